#ifndef SWITCHYARD_CLIBRARIES_H
#define SWITCHYARD_CLIBRARIES_H

/* System libraries, each opened at first use: no header of theirs is needed for building, and nothing is linked. */

#include "CCoding.h"
#include "CCrypto.h"
#include "CCurl.h"
#include "CSQLite.h"

#endif
