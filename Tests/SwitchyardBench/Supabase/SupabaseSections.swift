extension BenchArea {
    #if os(Linux)
        static let supabase = BenchArea(
            name: "supabase",
            sections: [
                SupabaseRowsSection(), SupabaseTablesSection(), SupabaseQueriesSection(), SupabaseWritesSection(),
                SupabaseClientSection(), SupabaseEventSection(),
                SupabaseChangesSection(),
                SupabaseFilesSection(),
            ])
    #else
        static let supabase = BenchArea(name: "supabase", sections: [])
    #endif
}
