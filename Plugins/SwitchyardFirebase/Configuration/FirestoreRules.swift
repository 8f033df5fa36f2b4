/// Security rules for Firestore, ready to publish.
public enum FirestoreRules {
    /// Rules for the clients of users, contacts, check-ins and notifications, and for the ledger of writes: a complete file, to
    /// which an app adds the rules of its own collections. `switchyard firebase rules` prints it.
    ///
    /// Users own their documents; contacts can do what these clients do for them, and strangers nothing.
    public static var domain: String { String(decoding: PackageResources.domain_rules, as: UTF8.self) }
}
