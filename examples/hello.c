/* The smallest C program: which devices are there? SCONCE_BACKEND=sim shows simulated ones. */
#include <sconce/sconce.h>
#include <stdint.h>
#include <stdio.h>

int main(void) {
  int32_t device;
  if (sconce_init() != SCONCE_OK) {
    fprintf(stderr, "sconce %s: %s\n", sconce_version(), sconce_last_error_message());
    return 1;
  }
  printf("sconce %s, %d device(s)\n", sconce_version(), (int)sconce_device_count());
  for (device = 0; device < sconce_device_count(); ++device) {
    char name[256];
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (sconce_device_get_name(device, name, sizeof name) != SCONCE_OK ||
        sconce_device_get_memory_info(device, &free_bytes, &total_bytes) != SCONCE_OK) {
      fprintf(stderr, "device %d: %s\n", (int)device, sconce_last_error_message());
      return 1;
    }
    printf("  %d: %s, %.1f GiB\n", (int)device, name,
           (double)total_bytes / (1024.0 * 1024.0 * 1024.0));
  }
  return 0;
}
