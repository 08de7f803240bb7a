#!/bin/sh
# SPDX-License-Identifier: MIT
# debug_seeds.sh FOLDER: makes small binaries there, of several compilers, versions of DWARF and byte orders, with
# types, locations and inlined functions: seeds of fuzz_dwarf and fuzz_types. Needs gcc, also for aarch64, clang and lld.
set -eu
cd "$1"

cat > seed.c <<'END'
enum kind { ONE, TWO = 300 };
typedef struct node {
    struct node *next;
    union { short s; char text[6]; } in;
    unsigned flags : 3, more : 5;
    enum kind kind;
} node_t;
node_t nodes[2];
static inline int sum(const node_t *n, int i)
{
    int r = 0;
    for (; n; n = n->next) {
        int k = n->flags + i;
        r += k * n->in.s;
    }
    return r;
}
int (*call)(node_t *, int);
int f(node_t *n, long i)
{
    int local[2] = {i, i};
    call(n, local[i & 1]);
    return sum(n->next, i) + nodes[i].in.text[1] + local[0];
}
void _start(void) { f(nodes, 1); }
END
cat > loops.c <<'END'
struct pair { int a, b; };
struct holder { struct pair *first; };
struct { long head; struct pair rows[8]; } table;
void __stack_chk_fail(void) {}
__attribute__((noinline)) struct pair *find(struct holder h, int i) { return h.first + i; }
int _start(struct holder h, int n)
{
    char text[16];
    int s = find(h, n)->b;
    for (struct pair *p = table.rows; p < table.rows + 8; p++)
        s += p->a;
    for (int i = 0; i < n; i++)
        text[i] = s, s += h.first[i].a;
    return s + text[n / 2] + find(h, s)->a;
}
END
cat > seed.cpp <<'END'
namespace space {
struct empty {};
struct base { int x; };
struct both : empty { empty inner; };
template <class T> struct box : base, empty {
    T t;
    both none;
    T *get() { return &t; }
    static int count;
};
enum class color : char { red };
}
space::box<char> global;
static inline int take(space::box<char> &b, space::color c) { return *b.get() + b.x + (int)c; }
extern "C" int _start(space::box<char> *b, int space::base::*p, int &&r)
{
    return take(*b, space::color::red) + take(global, space::color::red) + b->*p + r;
}
END

# seed NAME COMPILER WORD...: without what no target reads.
seed()
{
    name=$1
    shift
    "$@" -O2 -ffreestanding -fno-pic -fno-asynchronous-unwind-tables -fno-exceptions -nostdlib -static \
        -Wl,--build-id=none -Wl,-z,max-page-size=16 -Wl,-e,_start -o "$name"
    llvm-objcopy -R .symtab -R .strtab -R .comment -R .debug_aranges -R .debug_frame -R .eh_frame -R .debug_pubnames \
        -R .debug_pubtypes -R .bss -R .sbss -R .ARM.attributes -R .MIPS.abiflags -R .reginfo -R .pdr -R .mdebug.abi32 \
        -R .gnu.attributes "$name"
}

cross="clang -fuse-ld=lld"
seed records-2 gcc -no-pie -fcf-protection=none -g -gdwarf-2 -gstrict-dwarf seed.c
seed loops-4 gcc -no-pie -fcf-protection=none -fstack-protector-all -g -gdwarf-4 loops.c
seed loops-5 $cross -fstack-protector-all -g -gdwarf-5 loops.c
seed loops-gz gcc -no-pie -fcf-protection=none -g -gdwarf-4 -gz=zlib-gnu loops.c
seed loops-arm64 aarch64-linux-gnu-gcc -no-pie -g -gdwarf-4 loops.c
seed records-4 gcc -no-pie -fcf-protection=none -g -gdwarf-4 seed.c
seed records-5 gcc -no-pie -fcf-protection=none -g -gdwarf-5 seed.c
seed records-arm64 aarch64-linux-gnu-gcc -no-pie -g -gdwarf-5 seed.c
seed records-clang clang -g -gdwarf-4 seed.c
seed records-3-32 $cross --target=i386-linux-gnu -g -gdwarf-3 seed.c
seed records-big $cross --target=powerpc64-linux-gnu -g -gdwarf-5 seed.c
seed records-big-32 $cross --target=mips-linux-gnu -mno-abicalls -g -gdwarf-4 seed.c
seed records-big-64 $cross --target=powerpc64-linux-gnu -g -gdwarf-5 -gdwarf64 seed.c
seed classes-4 g++ -no-pie -fcf-protection=none -g -gdwarf-4 seed.cpp
seed classes-5 clang++ -g -gdwarf-5 seed.cpp
seed classes-units g++ -no-pie -fcf-protection=none -g -gdwarf-5 -fdebug-types-section seed.cpp
rm seed.c loops.c seed.cpp
