extension BenchArea {
    static let supabase = BenchArea(name: "supabase", sections: [])
}
