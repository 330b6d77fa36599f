/* What the golden file of callgrind was made of: recursion, two functions that call each other,
   calls through pointers, into other objects and of inlined code.

       gcc -g -O1 -o work work.c
       valgrind --tool=callgrind --toggle-collect=main --collect-jumps=yes \
           --callgrind-out-file=work.out ./work

   Directories were taken out of the file by hand. */
#include <string.h>
#include "work.h"

static char text[4096];

static unsigned __attribute__((noinline)) tree(unsigned depth) {
    return depth < 2 ? 1 : tree(depth - 1) + tree(depth - 2);
}

static unsigned __attribute__((noinline)) odd(unsigned n);
static unsigned __attribute__((noinline)) even(unsigned n) { return n ? odd(n - 1) + 1 : 1; }
static unsigned __attribute__((noinline)) odd(unsigned n) { return n ? even(n - 1) + 2 : 0; }

static unsigned __attribute__((noinline)) sum(const char *bytes, size_t size) {
    unsigned sum = ~0u;
    for (size_t at = 0; at < size; at++) sum = mix(sum, bytes[at]);
    return sum;
}

static unsigned __attribute__((noinline)) copy(volatile size_t size) {
    memset(text, 7, size);
    memmove(text + 1, text, size - 1);
    return sum(text, size);
}

int main(int count, char **words) {
    unsigned (*volatile pick[])(unsigned) = { tree, even, odd };
    unsigned all = count;
    for (unsigned at = 0; at < 12; at++) all += pick[at % 3](at) + copy(64 * (at + 1));
    return all == 7 && words[0] == text;
}
