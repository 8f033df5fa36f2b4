#ifndef SWITCHYARD_CCURL_H
#define SWITCHYARD_CCURL_H

/* libcurl, opened at first use: see CCurl.c. */

#endif
