/// The behaviour of the clients for users, contacts, check-ins and notifications, with any provider.
public enum DomainConformance {
    public static let all: [DomainCheck] = [
        userChecks, contactChecks, checkInChecks, notificationChecks, sessionChecks, ruleChecks,
    ].flatMap { $0 }

    /// The checks that apply to clients with these features.
    public static func checks(for features: DomainFeatures) -> [DomainCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for clients with these features.
    public static func leftOut(for features: DomainFeatures) -> [String] { all.leftOut(for: features) }
}
