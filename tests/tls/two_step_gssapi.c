// Two-step GSSAPI: a Cyrus SASL without Kerberos, loaded instead of the real one by test_sasl.py.
#include <sasl/sasl.h>

int sasl_client_init(const sasl_callback_t* callbacks) {
  (void)callbacks;
  return SASL_OK;
}

void sasl_set_mutex(sasl_mutex_alloc_t* allocate, sasl_mutex_lock_t* lock,
                    sasl_mutex_unlock_t* unlock, sasl_mutex_free_t* release) {
  (void)allocate, (void)lock, (void)unlock, (void)release;
}

const char* sasl_errdetail(sasl_conn_t* connection) {
  (void)connection;
  return "";
}

int sasl_getprop(sasl_conn_t* connection, int property, const void** value) {
  (void)connection, (void)property;
  *value = "ann@TEST";
  return SASL_OK;
}

const char** sasl_global_listmech(void) {
  static const char* mechanisms[] = {"GSSAPI", 0};
  return mechanisms;
}

int sasl_client_new(const char* service, const char* server, const char* local, const char* remote,
                    const sasl_callback_t* callbacks, unsigned flags, sasl_conn_t** connection) {
  (void)service, (void)server, (void)local, (void)remote, (void)callbacks, (void)flags;
  static int one;
  *connection = (sasl_conn_t*)&one;
  return SASL_OK;
}

int sasl_client_start(sasl_conn_t* connection, const char* mechanisms, sasl_interact_t** prompts,
                      const char** bytes, unsigned* size, const char** chosen) {
  (void)connection, (void)mechanisms, (void)prompts;
  *bytes = "one", *size = 3, *chosen = "GSSAPI";
  return SASL_CONTINUE;
}

int sasl_client_step(sasl_conn_t* connection, const char* given, unsigned given_size,
                     sasl_interact_t** prompts, const char** bytes, unsigned* size) {
  (void)connection, (void)given, (void)given_size, (void)prompts;
  *bytes = "two", *size = 3;
  return SASL_OK;
}

void sasl_dispose(sasl_conn_t** connection) { *connection = 0; }
