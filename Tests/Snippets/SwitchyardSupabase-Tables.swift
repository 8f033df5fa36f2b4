nonisolated(unsafe) var configuration: SupabaseConfiguration = given()
