/// Security rules for Firestore, as they are published for a project.
public enum FirestoreRules {
    /// For the clients of users, contacts, check-ins and notifications, and for the ledger of writes: a whole file, to which an
    /// app adds what its own collections need. `switchyard firebase rules` prints it.
    ///
    /// Each person owns what is theirs; contacts may do what these clients do for them, and a stranger nothing.
    public static var domain: String { String(decoding: PackageResources.domain_rules, as: UTF8.self) }
}
