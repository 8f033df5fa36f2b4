import Foundation

/// A report as one HTML file: a bar for each figure, its mark, and an earlier run beside it.
struct BenchPage {
    let report: BenchReport
    /// An earlier run, to compare with.
    var earlier: BenchReport?

    var html: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <title>switchyard-bench</title><style>\(Self.style)</style></head><body>
        <h1>switchyard-bench</h1>
        <p>\(report.machine.lines.map(Self.text).joined(separator: "<br>"))</p>
        \(report.isQuick ? "<p class=\"note\">A quick run: it shows that everything runs, and measures nothing.</p>" : "")
        \(beside)
        \(sections.map(section).joined(separator: "\n"))
        \(report.failures.map { "<p class=\"missed\">\(Self.text("\($0.area) / \($0.section) failed: \($0.reason)"))</p>" }.joined())
        <p>\(Self.text(report.summary.trimmingCharacters(in: .newlines)))</p>
        </body></html>

        """
    }

    private var beside: String {
        guard let earlier else { return "" }
        let lines = earlier.machine.lines.map(Self.text).joined(separator: ", ")
        return
            "<p class=\"earlier\">The pale bars are of an earlier run: \(lines)\(earlier.isQuick ? ", a quick one" : "")</p>"
    }

    private var sections: [String] {
        var names: [String] = []
        for entry in report.entries where !names.contains(Self.name(entry)) { names.append(Self.name(entry)) }
        return names
    }

    private static func name(_ entry: BenchReport.Entry) -> String { "\(entry.area) / \(entry.section)" }

    private func section(_ name: String) -> String {
        let entries = report.entries.filter { Self.name($0) == name }
        let before = (earlier?.entries ?? []).filter { Self.name($0) == name }
        // Bars of one unit have one scale.
        var largest: [String: Double] = [:]
        for figure in (entries + before).map(\.figure) where figure.value.isFinite {
            largest[figure.unit] = max(largest[figure.unit] ?? 0, figure.value, figure.mark?.bound ?? 0)
        }
        let rows = entries.map { entry in
            row(entry, before.first { $0.figure.name == entry.figure.name }, largest[entry.figure.unit] ?? 0)
        }
        return "<h2>\(Self.text(name))</h2><table>\(rows.joined())</table>"
    }

    private func row(_ entry: BenchReport.Entry, _ before: BenchReport.Entry?, _ largest: Double) -> String {
        let figure = entry.figure
        var bars = Self.bar(figure.value, of: largest, "now")
        if let before { bars += Self.bar(before.figure.value, of: largest, "before") }
        if let bound = figure.mark?.bound, largest > 0 {
            bars += "<i style=\"left:\(Self.percent(bound / largest))\"></i>"
        }
        let mark =
            switch figure.mark {
            case nil: ""
            case .atLeast(let bound): "≥ \(BenchTable.number(bound))"
            case .atMost(let bound): "≤ \(BenchTable.number(bound))"
            }
        let verdict = entry.verdict?.rawValue ?? ""
        return """
            <tr><th scope="row">\(Self.text(figure.name))</th><td class="value">\(BenchTable.number(figure.value)) \
            \(Self.text(figure.unit))</td><td class="bars" aria-hidden="true">\(bars)</td><td>\(mark)</td>\
            <td class="\(verdict)">\(verdict)</td><td>\(change(figure, before?.figure))</td></tr>
            """
    }

    private func change(_ figure: Figure, _ before: Figure?) -> String {
        guard let before, before.value != 0, before.value.isFinite, figure.value.isFinite else { return "" }
        let part = (figure.value / before.value - 1) * 100
        return "\(part >= 0 ? "+" : "−")\(BenchTable.number(abs(part))) %"
    }

    private static func bar(_ value: Double, of largest: Double, _ kind: String) -> String {
        guard value.isFinite, largest > 0 else { return "" }
        return "<b class=\"\(kind)\" style=\"width:\(percent(value / largest))\"></b>"
    }

    private static func percent(_ part: Double) -> String { "\((max(0, min(1, part)) * 1000).rounded() / 10)%" }

    private static func text(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    private static let style = """
        :root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
        body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
        h2 { margin: 2rem 0 .4rem; font-size: 1rem; }
        table { width: 100%; border-collapse: collapse; }
        th, td { padding: .25rem .5rem; border-top: 1px solid #8884; text-align: left; font-weight: 400; vertical-align: middle; }
        td { white-space: nowrap; }
        .value { text-align: right; font-variant-numeric: tabular-nums; }
        .bars { width: 32%; position: relative; }
        .bars b { display: block; height: .5rem; border-radius: 2px; background: #3a7bd5; min-width: 1px; }
        .bars b.before { background: #3a7bd566; margin-top: 2px; }
        .bars i { position: absolute; top: 2px; bottom: 2px; border-left: 2px solid #d08700; }
        .met { color: #1a8f4c; } .missed { color: #d1242f; font-weight: 600; } .note, .earlier { opacity: .75; }
        """
}

extension Figure.Mark {
    fileprivate var bound: Double {
        switch self {
        case .atLeast(let bound), .atMost(let bound): bound
        }
    }
}
