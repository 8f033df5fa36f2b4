/// A group of figures that are measured together.
///
/// To add one: a file in the folder of its area, and its name in that area's list.
protocol BenchSection: Sendable {
    /// Unique in its area, a word or two.
    var name: String { get }

    /// Measures. Report each result through `bench.report`, as soon as it is there.
    func run(_ bench: Bench) async throws

    /// What a fresh process does when this section asks for it with `Bench.inChild`, for figures that a process with a
    /// past cannot give, such as peak memory or the time of a start.
    func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double
}

extension BenchSection {
    func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
        throw BenchFailure("section \(name) has no task \(task)")
    }
}

/// Why a section could not measure.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
