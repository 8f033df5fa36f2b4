import Synchronization

/// Runs the chosen sections in order and collects their figures.
struct BenchRunner: Sendable {
    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    /// A section that fails is reported; the others still run.
    func run() async -> BenchReport {
        let measured = options.areas.flatMap { area in
            area.sections.filter(options.includes).map { "\(area.name) / \($0.name)" }
        }
        let empty = BenchReport(machine: .current(), measured: measured, isQuick: options.settings.isQuick)
        show(empty.head)
        let report = Mutex(empty)
        for area in options.areas {
            for section in area.sections where options.includes(section) {
                show(BenchTable.title(area.name, section.name))
                let bench = Bench(settings: options.settings, area: area.name, section: section.name) { figure in
                    let verdict = figure.verdict(isQuick: options.settings.isQuick)
                    show(BenchTable.line(figure, verdict))
                    let entry = BenchReport.Entry(
                        area: area.name, section: section.name, figure: figure, verdict: verdict)
                    report.withLock { $0.entries.append(entry) }
                }
                do {
                    try await section.run(bench)
                } catch {
                    show("FAILED: \(error)")
                    let failed = BenchReport.Failed(area: area.name, section: section.name, reason: "\(error)")
                    report.withLock { $0.failures.append(failed) }
                }
            }
        }
        return report.withLock { $0 }
    }

    private func show(_ line: String) {
        if !options.isJSON { print(line) }
    }
}
