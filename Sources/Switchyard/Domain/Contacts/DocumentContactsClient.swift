/// A ``ContactsClient`` on any storage and auth.
public struct DocumentContactsClient: ContactsClient {
    private let storage: any StorageClient
    private let signedIn: SignedInUser

    public init(on core: CoreClients) {
        storage = core.storage
        signedIn = SignedInUser(auth: core.auth)
    }

    public func contacts() async throws(ContactsError) -> [ContactModel] {
        let id = try await signedIn.id()
        return try await ContactsError.mapping {
            try await storage.documents(Self.byName(id)).documents.compactMap { ContactModel($0) }
        }
    }

    public func contact(_ contact: ContactModel.ID) async throws(ContactsError) -> ContactModel {
        let id = try await signedIn.id()
        return try await ContactsError.mapping {
            let path = ContactModel.collection(of: id).document(contact)
            guard let contact = ContactModel(try await storage.document(path)) else {
                throw ContactsError(.notFound, "The contact does not exist.")
            }
            return contact
        }
    }

    public func contactsStream() -> SnapshotStream<[ContactModel], ContactsError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.byName(id)).mapElements { $0.documents.compactMap { ContactModel($0) } }
        }
    }

    public func contactsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.byName(id), options: .withMetadata)
                .mapElements { .list($0) { ContactModel($0) } }
        }
    }

    public func add(_ contact: ContactModel) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            let path = ContactModel.collection(of: id).document(contact.id)
            try await requireNew(path)
            try await storage.createDocument(path, Self.newFields(contact))
        }
    }

    public func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            let path = ContactModel.collection(of: id).document(contact.id)
            try await requireNew(path)
            let request = ContactRequest.collection(of: id).document(contact.id)
            var batch = WriteBatch()
            try batch.create(path, Self.newFields(contact))
            if try await storage.foresees(request) == true {
                // The contact has asked first, and has this person on their list.
                batch.delete(request)
            } else {
                try batch.set(ContactRequest.collection(of: contact.id).document(id), ContactRequest.fields(me))
            }
            _ = try await storage.commit(batch)
        }
    }

    public func update(_ contact: ContactModel) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            let path = ContactModel.collection(of: id).document(contact.id)
            if try await storage.foresees(path) == false {
                throw ContactsError(.notFound, "The contact does not exist.")
            }
            try await storage.updateDocument(path, contact.updates)
        }
    }

    public func remove(_ contact: ContactModel.ID) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            try await storage.deleteDocument(ContactModel.collection(of: id).document(contact))
        }
    }

    public func removeMutually(_ contact: ContactModel.ID) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            var batch = WriteBatch()
            batch.delete(ContactModel.collection(of: id).document(contact))
            batch.delete(ContactModel.collection(of: contact).document(id))
            batch.delete(ContactRequest.collection(of: contact).document(id))
            batch.delete(ContactRequest.collection(of: id).document(contact))
            _ = try await storage.commit(batch)
        }
    }

    public func requests() async throws(ContactsError) -> [ContactRequest] {
        let id = try await signedIn.id()
        return try await ContactsError.mapping {
            try await storage.documents(Self.byTime(id)).documents.compactMap { ContactRequest($0) }
        }
    }

    public func requestsStream() -> SnapshotStream<[ContactRequest], ContactsError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.byTime(id)).mapElements { $0.documents.compactMap { ContactRequest($0) } }
        }
    }

    public func requestsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.byTime(id), options: .withMetadata)
                .mapElements { .list($0) { ContactRequest($0) } }
        }
    }

    public func accept(_ contact: ContactModel) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            let request = ContactRequest.collection(of: id).document(contact.id)
            guard try await storage.document(request).exists else {
                throw ContactsError(.notFound, "There is no request from this contact.")
            }
            let path = ContactModel.collection(of: id).document(contact.id)
            var batch = WriteBatch()
            if try await !storage.document(path).exists { try batch.create(path, Self.newFields(contact)) }
            batch.delete(request)
            _ = try await storage.commit(batch)
        }
    }

    public func decline(_ contact: ContactModel.ID) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            try await storage.deleteDocument(ContactRequest.collection(of: id).document(contact))
        }
    }

    public func block(_ contact: ContactModel.ID) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            var batch = WriteBatch()
            try batch.set(ContactRequest.blocked(by: id).document(contact), ["blockedAt": .serverTime])
            batch.delete(ContactModel.collection(of: id).document(contact))
            batch.delete(ContactRequest.collection(of: id).document(contact))
            _ = try await storage.commit(batch)
        }
    }

    public func unblock(_ contact: ContactModel.ID) async throws(ContactsError) {
        let id = try await signedIn.id()
        try await ContactsError.mapping {
            try await storage.deleteDocument(ContactRequest.blocked(by: id).document(contact))
        }
    }

    public func blocked() async throws(ContactsError) -> Set<ContactModel.ID> {
        let id = try await signedIn.id()
        return try await ContactsError.mapping {
            Set(try await storage.documents(Query(in: ContactRequest.blocked(by: id))).documents.map(\.id))
        }
    }

    private func requireNew(_ path: StoragePath) async throws {
        if try await storage.foresees(path) == true {
            throw ContactsError(.alreadyExists, "A contact with this name already exists.")
        }
    }

    private static func byName(_ id: AuthUser.ID) -> Query {
        Query(in: ContactModel.collection(of: id)).ordered(by: "name")
    }

    private static func byTime(_ id: AuthUser.ID) -> Query {
        Query(in: ContactRequest.collection(of: id)).ordered(by: "sentAt")
    }

    private static func newFields(_ contact: ContactModel) -> WriteFields {
        var fields = contact.describingFields
        fields["addedAt"] = .serverTime
        return fields
    }
}
