/// Why a call to a ``CheckInClient`` failed.
public typealias CheckInError = DomainError

/// A check-in: the document `checkIns/{id}`.
public struct CheckInRecord: Sendable, Hashable, Identifiable {
    public let id: String
    public let userID: AuthUser.ID
    /// When the user checked in, by this device's clock.
    public let checkedInAt: Timestamp
    /// When the server recorded it; an estimate until then.
    public let recordedAt: Timestamp?

    public init(id: String, userID: AuthUser.ID, checkedInAt: Timestamp, recordedAt: Timestamp? = nil) {
        self.id = id
        self.userID = userID
        self.checkedInAt = checkedInAt
        self.recordedAt = recordedAt
    }
}

/// How often a user has to check in.
public struct CheckInSchedule: Sendable, Hashable {
    /// How long after a check-in the next one is due.
    public let interval: Duration
    /// How long before a check-in is due the app should remind the user. The client only stores it.
    public let reminder: Duration

    /// - Parameters:
    ///   - interval: How long after a check-in the next one is due.
    ///   - reminder: How long before that the app should remind the user; by default two hours, or a twelfth of an interval
    ///     that is shorter than a day.
    /// - Throws: `.invalidArgument` unless `interval` is a minute to a year, and `reminder` is not negative and shorter.
    public init(
        interval: Duration = UserModel.defaultCheckInInterval, reminder: Duration? = nil
    ) throws(CheckInError) {
        guard Self.intervals.contains(interval) else {
            throw CheckInError(.invalidArgument, "A check-in interval must be one minute to one year.")
        }
        let reminder = reminder ?? Self.usualReminder(interval)
        guard reminder >= .zero, reminder < interval else {
            throw CheckInError(
                .invalidArgument, "The reminder must be shorter than the interval, and not negative.")
        }
        self.interval = interval
        self.reminder = reminder
    }

    /// The stored schedule; a value out of bounds counts as the default.
    init(storedInterval: Duration?, storedReminder: Duration?) {
        let interval =
            storedInterval.flatMap { Self.intervals.contains($0) ? $0 : nil }
            ?? UserModel.defaultCheckInInterval
        self.interval = interval
        reminder = storedReminder.flatMap { $0 >= .zero && $0 < interval ? $0 : nil } ?? Self.usualReminder(interval)
    }

    private static let intervals = Duration.seconds(60)...Duration.seconds(366 * 86_400)

    private static func usualReminder(_ interval: Duration) -> Duration {
        min(UserModel.defaultReminderInterval, interval / 12)
    }
}

/// The check-ins of the signed-in user.
public protocol CheckInClient: Sendable {
    /// Writes the record and the user's last check-in, both or neither.
    ///
    /// - Returns: The time of the check-in. On a client with a queue, it counts even without a connection.
    @discardableResult
    func checkIn() async throws(CheckInError) -> Timestamp

    /// The newest check-ins, newest first.
    func history(limit: Int) async throws(CheckInError) -> [CheckInRecord]
    /// The newest check-ins, newest first, now and after every change.
    func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError>
    /// As ``historyStream(limit:)``, with where the check-ins come from: a pending one is not on the server yet.
    func historySnapshots(limit: Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError>

    func schedule() async throws(CheckInError) -> CheckInSchedule
    func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError)
    /// Sets the interval alone. A reminder that is not shorter becomes the default.
    ///
    /// - Throws: `.invalidArgument` unless it is a minute to a year.
    func setInterval(_ interval: Duration) async throws(CheckInError)
    /// Sets the reminder alone.
    ///
    /// - Throws: `.invalidArgument` unless it is shorter than the interval that is stored, and not negative.
    func setReminder(_ reminder: Duration) async throws(CheckInError)
    /// When the next check-in is due; `nil` before the first.
    func nextCheckIn() async throws(CheckInError) -> Timestamp?
}

extension CheckInClient {
    /// The newest ten.
    public func history() async throws(CheckInError) -> [CheckInRecord] { try await history(limit: 10) }
    public func historyStream() -> SnapshotStream<[CheckInRecord], CheckInError> { historyStream(limit: 10) }
    public func historySnapshots() -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError> {
        historySnapshots(limit: 10)
    }

    /// For clients that do not tell where check-ins come from.
    public func historySnapshots(limit: Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError> {
        historyStream(limit: limit).asDomainSnapshots()
    }
}
