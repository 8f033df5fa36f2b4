let firebase: FirebaseConfiguration = given()
let supabase: SupabaseConfiguration = given()
func askServer(_ session: Secret) async throws -> Secret { session }
