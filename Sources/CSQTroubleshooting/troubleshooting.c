#include "troubleshooting.h"

// #embed is a part of C23, and clang knows it in every version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char article[] = {
#embed "../SequencingOAuth/SequencingOAuth.docc/Troubleshooting.md"
    , '\0'};

const char *sq_troubleshooting(void) { return article; }
