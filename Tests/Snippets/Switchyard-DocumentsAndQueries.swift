enum Priority: String, Codable, Sendable, DocumentValueConvertible {
    case low, high, highest
    var documentValue: DocumentValue { .string(rawValue) }
}

struct Todo: Codable, Sendable {
    @DocumentID var id: String
    var title: String
    var done = false
    var priority = Priority.low
    @ServerTimestamp var created: Date?
}

func show(_ item: Any, isPending: Bool) {}
func append(_ items: some Sequence) {}
let me: StoragePath = "users/alice"
let myContacts = Query(in: "users/alice/contacts")
