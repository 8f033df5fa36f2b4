package import Switchyard
import SwitchyardBytes
package import SwitchyardWire

/// Compares this device's clock with a server's, since tokens that are valid by one clock may have expired by the other.
package enum DeviceClock {
    private static let tolerance = 60

    /// A remark for error messages; `nil` if both clocks agree, or the answer has no time.
    package static func remark(_ headers: HTTPHeaders, now: Timestamp) -> String? {
        guard let time = headers["Date"].flatMap({ HTTPDate.parse($0, now: now.seconds) }) else { return nil }
        let ahead = now.seconds - time
        guard abs(ahead) > tolerance else { return nil }
        return "This device's clock is \(length(abs(ahead))) \(ahead > 0 ? "ahead" : "behind"). Set it, and try again."
    }

    private static func length(_ seconds: Int64) -> String {
        let (count, unit) =
            switch seconds {
            case ..<7200: (seconds / 60, "minute")
            case ..<172_800: (seconds / 3600, "hour")
            default: (seconds / 86_400, "day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
