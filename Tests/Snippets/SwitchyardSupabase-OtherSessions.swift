let firebase: FirebaseConfiguration = given()
let supabase: SupabaseConfiguration = given()
