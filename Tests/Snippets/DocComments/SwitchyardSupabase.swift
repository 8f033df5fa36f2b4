var mapping: SupabaseTableMapping = given(), configuration: SupabaseConfiguration = given()
