extension Duration {
    /// Three digits and a unit, for people: `15 µs`, `1.25 s`, `2 min 9 s`.
    package var readable: String {
        let microseconds = self / .microseconds(1)
        switch microseconds {
        case ..<1: return "\(Int((self / .nanoseconds(1)).rounded())) ns"
        case ..<1_000: return "\(Duration.threeDigits(microseconds)) µs"
        case ..<1_000_000: return "\(Duration.threeDigits(microseconds / 1_000)) ms"
        case ..<60_000_000: return "\(Duration.threeDigits(microseconds / 1_000_000)) s"
        default:
            let seconds = Int((microseconds / 1_000_000).rounded())
            let (large, small, units) =
                seconds < 3600
                ? (seconds / 60, seconds % 60, ("min", "s")) : (seconds / 3600, seconds / 60 % 60, ("h", "min"))
            return small == 0 ? "\(large) \(units.0)" : "\(large) \(units.0) \(small) \(units.1)"
        }
    }

    private static func threeDigits(_ number: Double) -> String {
        let places = number < 10 ? 100.0 : number < 100 ? 10.0 : 1.0
        let rounded = (number * places).rounded() / places
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
