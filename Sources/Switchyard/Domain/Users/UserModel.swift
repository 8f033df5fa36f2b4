/// A user as the app knows them: the document `users/{id}`.
public struct UserModel: Sendable, Hashable, Identifiable {
    public let id: AuthUser.ID
    public var email: String?
    public var displayName: String?
    public var phoneNumber: String?
    /// Where the profile image is stored.
    public var imagePath: FilePath?
    public var createdAt: Timestamp?
    public var lastCheckInAt: Timestamp?
    /// How long after a check-in the next one is due.
    public var checkInInterval: Duration
    /// How long before a check-in is due the app should remind the user. The client only stores it.
    public var reminderInterval: Duration

    public static let defaultCheckInInterval: Duration = .seconds(86_400)
    public static let defaultReminderInterval: Duration = .seconds(7_200)

    public init(
        id: AuthUser.ID, email: String? = nil, displayName: String? = nil, phoneNumber: String? = nil,
        imagePath: FilePath? = nil, createdAt: Timestamp? = nil, lastCheckInAt: Timestamp? = nil,
        checkInInterval: Duration = defaultCheckInInterval, reminderInterval: Duration = defaultReminderInterval
    ) {
        self.id = id
        self.email = email
        self.displayName = displayName
        self.phoneNumber = phoneNumber
        self.imagePath = imagePath
        self.createdAt = createdAt
        self.lastCheckInAt = lastCheckInAt
        self.checkInInterval = checkInInterval
        self.reminderInterval = reminderInterval
    }

    /// When the next check-in is due; `nil` before the first.
    public var nextCheckInAt: Timestamp? { lastCheckInAt?.advanced(by: checkInInterval) }
    /// When to remind of it; `nil` before the first.
    public var nextReminderAt: Timestamp? {
        lastCheckInAt?.advanced(by: checkInInterval.bounded - reminderInterval.bounded)
    }
}

extension UserModel: CustomStringConvertible {
    /// The account's ID only, to keep email addresses out of logs.
    public var description: String { "UserModel(\(id))" }
}

/// The changes to a profile; `nil` properties stay as they are.
public struct ProfileChanges: Sendable, Hashable {
    public var displayName: String?
    public var phoneNumber: String?
    public var email: String?

    public init(displayName: String? = nil, phoneNumber: String? = nil, email: String? = nil) {
        self.displayName = displayName
        self.phoneNumber = phoneNumber
        self.email = email
    }
}

extension Timestamp {
    /// Later by `duration`, to the nanosecond; clamped to the first or last possible timestamp.
    public func advanced(by duration: Duration) -> Timestamp {
        let (more, attoseconds) = duration.bounded.components
        var nanoseconds = Int64(self.nanoseconds) + attoseconds / 1_000_000_000
        var carry: Int64 = 0
        if nanoseconds >= 1_000_000_000 { (nanoseconds, carry) = (nanoseconds - 1_000_000_000, 1) }
        if nanoseconds < 0 { (nanoseconds, carry) = (nanoseconds + 1_000_000_000, -1) }
        return Timestamp(clampingSeconds: seconds + more + carry, nanoseconds: Int32(nanoseconds))
    }

    /// The time between the two; negative if `other` is later.
    public func timeSince(_ other: Timestamp) -> Duration {
        .seconds(seconds - other.seconds) + .nanoseconds(Int64(nanoseconds - other.nanoseconds))
    }
}

extension Duration {
    /// At most 2⁶⁰ seconds either way: far more than between any two timestamps, and safe for arithmetic.
    fileprivate var bounded: Duration { min(max(self, .seconds(-1 << 60)), .seconds(1 << 60)) }
}

/// The names of the fields in `users/{id}`: one place for all domain clients.
enum UserFields {
    static let collection: CollectionPath = "users"
    static let email = "email"
    static let displayName = "displayName"
    static let phoneNumber = "phoneNumber"
    static let imagePath = "imagePath"
    static let createdAt = "createdAt"
    static let lastCheckInAt = "lastCheckInAt"
    static let checkInInterval = "checkInInterval"
    static let reminderInterval = "reminderInterval"

    static func path(_ id: AuthUser.ID) -> StoragePath { collection.document(id) }
}
