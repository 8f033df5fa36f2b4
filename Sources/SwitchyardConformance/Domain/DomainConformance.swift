/// The meaning of the clients for users, contacts, check-ins and notifications, whoever stands behind.
public enum DomainConformance {
    public static let all: [DomainCheck] = [
        userChecks, contactChecks, checkInChecks, notificationChecks, sessionChecks, ruleChecks,
    ].flatMap { $0 }

    /// Those that apply to clients with these features.
    public static func checks(for features: DomainFeatures) -> [DomainCheck] { all.applicable(to: features) }

    /// The names of those that clients with these features are spared.
    public static func leftOut(for features: DomainFeatures) -> [String] { all.leftOut(for: features) }
}
