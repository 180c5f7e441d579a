/* How the tests from plain C check what calls give. */
#ifndef SCONCE_CPP_TESTS_C_API_H
#define SCONCE_CPP_TESTS_C_API_H

#include <sconce/sconce_all.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program unless the call succeeds. */
#define OK(call)                                                            \
  do {                                                                      \
    const sconce_status ok_status = (call);                                 \
    if (ok_status != SCONCE_OK) {                                           \
      fprintf(stderr, "%s:%d: %s gave %s: %s\n", __FILE__, __LINE__, #call, \
              sconce_status_name(ok_status), sconce_last_error_message());  \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

/* Ends the program unless the condition holds. */
#define HOLDS(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

/* Products, convolutions, transforms: c_api_libraries.c. */
void libraries(void);

#endif /* SCONCE_CPP_TESTS_C_API_H */
