let firebase: FirebaseConfiguration = { fatalError() }()
let supabase: SupabaseConfiguration = { fatalError() }()
