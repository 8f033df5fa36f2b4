extension BenchArea {
    #if os(Linux)
        static let supabase = BenchArea(name: "supabase", sections: [SupabaseRowsSection(), SupabaseQueriesSection()])
    #else
        static let supabase = BenchArea(name: "supabase", sections: [])
    #endif
}
