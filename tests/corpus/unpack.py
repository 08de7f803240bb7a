# SPDX-License-Identifier: MIT
"""unpack.py FOLDER STAMP ARCHIVE...: puts what the archives hold into FOLDER, which is made anew, then writes STAMP."""
import pathlib, shutil, sys, tarfile

folder, stamp, *archives = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
for archive in archives:
    with tarfile.open(archive) as packed:
        packed.extractall(folder)
pathlib.Path(stamp).touch()
