# SPDX-License-Identifier: MIT
# For Nix: nix build 'git+file:.?dir=packaging/nix' in the checkout; #python is the Python package.
{
  description = "Record, read, repair, edit and analyse Linux perf.data recordings";

  inputs.nixpkgs.url = "nixpkgs";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "riscv64-linux" ];
      version = builtins.head (builtins.match ".*\n  version: '([0-9.]+)'.*" (builtins.readFile ../../meson.build));
      command = pkgs: pkgs.stdenv.mkDerivation {
        pname = "perfile";
        inherit version;
        src = ../..;
        outputs = [ "out" "lib" "dev" "man" ];
        nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 scdoc ];
        buildInputs = with pkgs; [ capstone ncurses sqlite xz zlib zstd ];
        # where the libraries are that it loads when it needs them
        postFixup = ''
          patchelf --add-rpath ${pkgs.lib.makeLibraryPath [ pkgs.capstone pkgs.libarchive pkgs.stdenv.cc.cc ]} \
            $lib/lib/libperfile-analysis.so.${version}
        '';
        mesonFlags = [
          "-Dtests=disabled"
          "-Dman=enabled"
          "-Dcompletions=enabled"
          "-Dcapstone=enabled"
          "-Dlzma=enabled"
          "-Dtui=enabled"
          "-Dsqlite=enabled"
          "-Dopencsd=disabled"
        ];
        meta = {
          description = "Record, read, repair, edit and analyse Linux perf.data recordings";
          license = pkgs.lib.licenses.mit;
          mainProgram = "perfile";
          platforms = systems;
        };
      };
      python = pkgs: pkgs.python3Packages.buildPythonPackage {
        pname = "perfile";
        inherit version;
        src = ../..;
        format = "pyproject";
        preBuild = "cd bindings/python";
        nativeBuildInputs = [ pkgs.python3Packages.setuptools ];
        postPatch = ''
          substituteInPlace bindings/python/perfile/_library.py \
            --replace-fail "os.environ.get('PERFILE_LIBRARY')" \
              "os.environ.get('PERFILE_LIBRARY', '${pkgs.lib.getLib (command pkgs)}/lib')"
        '';
        pythonImportsCheck = [ "perfile" ];
        meta.license = pkgs.lib.licenses.mit;
      };
    in {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = command nixpkgs.legacyPackages.${system};
        python = python nixpkgs.legacyPackages.${system};
      });
    };
}
