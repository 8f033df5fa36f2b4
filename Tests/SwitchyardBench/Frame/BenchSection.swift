/// A group of figures that are measured together.
///
/// To add one, create a file in the folder of its area, and add it to that area's list.
protocol BenchSection: Sendable {
    /// A word or two, unique in its area.
    var name: String { get }

    /// Measures, reporting each result through `bench.report` as soon as it is known.
    func run(_ bench: Bench) async throws

    /// Runs in a new process that this section requested with `Bench.inChild`, for figures that need a fresh process, such as
    /// peak memory or startup time.
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
