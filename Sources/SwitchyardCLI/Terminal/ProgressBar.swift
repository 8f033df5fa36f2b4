import Synchronization

/// How far something is, and since when.
struct ProgressState: Sendable, Equatable {
    enum Unit: Sendable, Equatable {
        case bytes
        /// In the plural: `documents`.
        case things(String)
    }

    var done: Int64 = 0
    /// `nil` while it is unknown.
    var total: Int64?
    var unit: Unit
    var elapsed: Duration = .zero
    /// Why it does not go on, if it does not.
    var trouble: String?

    /// A line of at most `width` columns: `[#####.....] 52 %  3.1 of 6 MB  1.2 MB/s  3 s left`.
    func line(width: Int) -> String {
        let seconds = elapsed / .seconds(1)
        let rate = seconds > 0 ? Double(done) / seconds : 0
        var parts = [amount]
        if rate > 0 { parts.append("\(Self.short(rate, unit))/s") }
        if let total, rate > 0, done < total {
            parts.append(Self.time(Double(total - done) / rate) + " left")
        }
        if let trouble { parts.append(trouble) }
        let text = parts.joined(separator: "  ")
        guard let total, total > 0 else { return String(text.prefix(width)) }
        let share = min(1, Double(done) / Double(total))
        let percent = "\(Int(share * 100)) %"
        let room = width - text.count - percent.count - 6
        guard room >= 5 else { return String("\(percent)  \(text)".prefix(width)) }
        let length = min(room, 30)
        let full = Int(Double(length) * share)
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: length - full)
        return "[\(bar)] \(percent)  \(text)"
    }

    private var amount: String {
        switch (unit, total) {
        case (.bytes, let total?): "\(Self.short(Double(done), unit)) of \(Self.short(Double(total), unit))"
        case (.bytes, nil): Self.short(Double(done), unit)
        case (.things(let name), let total?): "\(done) of \(total) \(name)"
        case (.things(let name), nil): "\(done) \(name)"
        }
    }

    static func short(_ number: Double, _ unit: Unit) -> String {
        guard unit == .bytes else { return number < 10 ? decimal(number) : "\(Int(number))" }
        var (value, index) = (number, 0)
        let units = ["B", "kB", "MB", "GB", "TB"]
        while value >= 1000, index < units.count - 1 { (value, index) = (value / 1000, index + 1) }
        return (index == 0 || value >= 100 ? "\(Int(value))" : decimal(value)) + " " + units[index]
    }

    /// With one digit behind the point.
    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    static func time(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 1e9).rounded(.up))
        return switch seconds {
        case ..<90: "\(seconds) s"
        case ..<5400: "\((seconds + 30) / 60) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}

/// A line at the bottom of a terminal that shows how far something is, from the first second on. Elsewhere it shows nothing.
final class ProgressBar: Sendable {
    private struct State {
        var progress: ProgressState
        var shownAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>
    private let start = ContinuousClock.now
    private let isTerminal = Terminal.isTerminal(2)

    init(_ unit: ProgressState.Unit, total: Int64? = nil) {
        state = Mutex(State(progress: ProgressState(total: total, unit: unit)))
    }

    func add(_ count: Int64 = 1) { change { $0.done += count } }

    func show(_ done: Int64, of total: Int64?, trouble: String? = nil) {
        change { progress in
            progress.done = done
            progress.total = total
            progress.trouble = trouble
        }
    }

    /// Removes the line, before other output.
    func clear() {
        let isShown = state.withLock { state in
            defer { state.shownAt = nil }
            return state.shownAt != nil
        }
        if isShown { Terminal.errorWithoutBreak("\r\u{1B}[K") }
    }

    private func change(_ change: (inout ProgressState) -> Void) {
        let line = state.withLock { state -> String? in
            change(&state.progress)
            let now = ContinuousClock.now
            guard isTerminal, now - start >= .seconds(1) else { return nil }
            if let shownAt = state.shownAt, now - shownAt < .milliseconds(100) { return nil }
            state.shownAt = now
            state.progress.elapsed = now - start
            // One column less, for a terminal that breaks a line as soon as it is full.
            return state.progress.line(width: Terminal.width(2) - 1)
        }
        if let line { Terminal.errorWithoutBreak("\r\u{1B}[K\(line)") }
    }
}
