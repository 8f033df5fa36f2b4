let backend: MockBackend = given(), storage: MockStorageClient = given(), phone: Infrastructure = given()
final class TodoModel { init(_ backend: Infrastructure) {} }
