struct BenchSettings: Hashable, Sendable {
    var isQuick = false

    /// How often to repeat, or how much to do: less when quick.
    func count(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }
}
