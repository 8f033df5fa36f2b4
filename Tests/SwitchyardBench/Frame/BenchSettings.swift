struct BenchSettings: Hashable, Sendable {
    var isQuick = false

    /// The number of repetitions or the amount of work, which is smaller in quick runs.
    func count(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }
}
