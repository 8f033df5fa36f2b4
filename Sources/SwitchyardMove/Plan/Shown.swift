/// Numbers as they are shown.
enum Shown {
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// With three digits and a unit.
    static func bytes(_ bytes: Int64) -> String {
        var (value, unit) = (Double(bytes), 0)
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        if unit == 0 { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let digits =
            value < 10 ? (value * 100).rounded() / 100 : value < 100 ? (value * 10).rounded() / 10 : value.rounded()
        return "\(digits == digits.rounded() ? "\(Int(digits))" : "\(digits)") \(units[unit])"
    }

    static func minutes(_ minutes: Double) -> String { time(.seconds(minutes * 60)) }

    static func time(_ time: Duration) -> String {
        let seconds = time.components.seconds
        return switch seconds {
        case ..<1: "1 s"
        case ..<90: "\(seconds) s"
        case ..<5400: "\(Int((Double(seconds) / 60).rounded())) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}
