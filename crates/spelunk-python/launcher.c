// The program of the Python package on Linux. It runs the engine of the native module, without an interpreter: the
// package has one engine and not two. The module refers to symbols of Python; `symbols.h`, which `cargo xtask wheel`
// writes, defines them here, because the loader wants all of them. The program never uses them.
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "symbols.h"

int main(int n_words, char **words) {
    (void)n_words;
    char self[PATH_MAX + 1] = {0}, module[PATH_MAX + 64];
    if (readlink("/proc/self/exe", self, PATH_MAX) < 0) {
        perror("error: could not read `/proc/self/exe`");
        return 1;
    }
    snprintf(module, sizeof module, "%s/../_native.abi3.so", dirname(self));
    // As in every program of Rust: a closed pipe is an error of the write, and not the end.
    signal(SIGPIPE, SIG_IGN);
    void *engine = dlopen(module, RTLD_NOW);
    void (*run)(char **) = engine ? (void (*)(char **))dlsym(engine, "spelunk_main") : NULL;
    if (!run) {
        fprintf(stderr, "error: could not load the engine: %s\n\nhint: install the package again\n", dlerror());
        return 1;
    }
    run(words);
}
