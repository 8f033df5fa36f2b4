public import Foundation
import SwitchyardBytes

/// A point in time with nanosecond precision, between the years 1 and 9999.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01 00:00 UTC; negative before.
    public let seconds: Int64
    /// `0 ..< 1_000_000_000`, always counted forwards from `seconds`.
    public let nanoseconds: Int32
    /// Whether the server has not set this server time yet; the value is this device's estimate.
    ///
    /// An estimate sorts after every known timestamp.
    public let isEstimate: Bool

    /// - Throws: `.invalidArgument` outside the years 1 … 9999 or with nanoseconds outside `0 ..< 1_000_000_000`.
    public init(validatingSeconds seconds: Int64, nanoseconds: Int32) throws(StorageError) {
        guard Timestamp.range.contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else {
            throw .invalid("A timestamp must lie between the years 1 and 9999, with 0 to 999 999 999 nanoseconds.")
        }
        self.init(clampingSeconds: seconds, nanoseconds: nanoseconds)
    }

    /// The nearest timestamp to `date`; dates outside the years 1 … 9999 are clamped.
    public init(_ date: Date) {
        let interval = date.timeIntervalSince1970
        guard interval.isFinite else {
            self = interval == .infinity ? .distantFuture : .distantPast
            return
        }
        // Dates count from 2001; splitting their own interval keeps digits that converting to 1970 would lose.
        let reference = date.timeIntervalSinceReferenceDate
        let whole = reference.rounded(.down)
        guard whole > -1e15, whole < 1e15 else {
            self = whole > 0 ? .distantFuture : .distantPast
            return
        }
        let fraction = ((reference - whole) * 1e9).rounded()
        let carry: Int64 = fraction >= 1e9 ? 1 : 0
        self.init(
            clampingSeconds: Int64(whole) + Int64(Date.timeIntervalBetween1970AndReferenceDate) + carry,
            nanoseconds: carry == 1 ? 0 : Int32(fraction))
    }

    package init(clampingSeconds seconds: Int64, nanoseconds: Int32, isEstimate: Bool = false) {
        if seconds < Timestamp.range.lowerBound {
            (self.seconds, self.nanoseconds) = (Timestamp.range.lowerBound, 0)
        } else if seconds > Timestamp.range.upperBound {
            (self.seconds, self.nanoseconds) = (Timestamp.range.upperBound, 999_999_999)
        } else {
            (self.seconds, self.nanoseconds) = (seconds, min(max(nanoseconds, 0), 999_999_999))
        }
        self.isEstimate = isEstimate
    }

    /// Microseconds since 1970, clamped; the unit in which several backends count versions.
    package init(microseconds: Int64) {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let isBefore = rest < 0
        self.init(
            clampingSeconds: isBefore ? seconds - 1 : seconds,
            nanoseconds: Int32((isBefore ? rest + 1_000_000 : rest) * 1000))
    }

    package var microseconds: Int64 { seconds * 1_000_000 + Int64(nanoseconds / 1000) }

    /// The same instant, marked as this device's guess at a server time.
    package var asEstimate: Timestamp {
        Timestamp(clampingSeconds: seconds, nanoseconds: nanoseconds, isEstimate: true)
    }

    public static let distantPast = Timestamp(clampingSeconds: range.lowerBound, nanoseconds: 0)
    public static let distantFuture = Timestamp(clampingSeconds: range.upperBound, nanoseconds: 999_999_999)
    static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The nearest date; dates have a precision of about a tenth of a microsecond.
    public var date: Date {
        Date(
            timeIntervalSinceReferenceDate: Double(seconds - Int64(Date.timeIntervalBetween1970AndReferenceDate))
                + Double(nanoseconds) / 1e9)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        if left.isEstimate != right.isEstimate { return right.isEstimate }
        return (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension Timestamp: CustomStringConvertible, CustomDebugStringConvertible {
    /// `2026-01-31T09:41:07.213Z`; an estimate is marked as one.
    public var description: String {
        let text = RFC3339.format(RFC3339.Moment(seconds: seconds, nanoseconds: nanoseconds))
        return isEstimate ? "\(text) (estimate)" : text
    }
    public var debugDescription: String { description }
}
