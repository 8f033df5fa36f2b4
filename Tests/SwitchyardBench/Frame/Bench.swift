/// The environment of a section: its settings, its report, and ways of measuring.
struct Bench: Sendable {
    let settings: BenchSettings
    let area: String
    let section: String
    let note: @Sendable (Figure) async -> Void

    func report(_ figure: Figure) async { await note(figure) }

    func report(_ name: String, _ value: Double, _ unit: String, _ mark: Figure.Mark? = nil) async {
        await note(Figure(name, value, unit, mark))
    }

    /// The value measured by a new process of this program, see `BenchSection.runChild`: the median of `rounds` processes.
    func inChild(_ task: String, rounds: Int = 1) async throws -> Double {
        var values: [Double] = []
        for _ in 0..<rounds {
            values.append(try await ChildProcess.run(task, area: area, section: section, settings))
        }
        return Statistics.median(values)
    }
}
