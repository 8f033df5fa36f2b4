import Switchyard

extension DomainConformance {
    static let contactChecks: [DomainCheck] = [
        DomainCheck("contacts need a session") { context in
            try await context.expectFailure(.unauthenticated, as: ContactsError.self, in: "listing them") {
                try await context.contacts.contacts()
            }
            try await context.expectFailure(.unauthenticated, as: ContactsError.self, in: "adding one") {
                try await context.contacts.add(ContactModel(id: "bob", name: "Bob"))
            }
        },
        DomainCheck("contacts are added and listed by name") { context in
            try await context.signIn()
            try expectEqual(try await context.contacts.contacts().count, 0, "the number of contacts at first")
            for (id, name) in [("1", "Zoe"), ("2", "Anna"), ("3", "Max")] {
                try await context.contacts.add(ContactModel(id: id, name: name))
            }
            try expectEqual(try await context.contacts.contacts().map(\.name), ["Anna", "Max", "Zoe"], "the names")
        },
        DomainCheck("a contact keeps everything that was said about it") { context in
            try await context.signIn()
            let contact = ContactModel(
                id: "bob", name: "Bob Größe", email: "bob@example.com", phoneNumber: "+15005550002", note: "neighbour",
                isResponder: true, isDependent: true)
            try await context.contacts.add(contact)
            try await context.settle()
            var found = try await context.contacts.contact("bob")
            _ = try expectValue(found.addedAt, "a time of adding")
            found.addedAt = nil
            try expectEqual(found, contact, "the contact")
        },
        DomainCheck("a contact that is not there is not found") { context in
            try await context.signIn()
            try await context.expectFailure(.notFound, as: ContactsError.self, in: "asking for it") {
                try await context.contacts.contact("missing")
            }
        },
        DomainCheck("a contact can be added once") { context in
            try await context.signIn()
            try await context.contacts.add(ContactModel(id: "bob", name: "Bob"))
            try await context.settle()
            try await context.expectFailure(.alreadyExists, as: ContactsError.self, in: "adding it again") {
                try await context.contacts.add(ContactModel(id: "bob", name: "Another"))
            }
            try expectEqual(try await context.contacts.contact("bob").name, "Bob", "the name")
        },
        DomainCheck("a change of a contact leaves out what is no longer known") { context in
            try await context.signIn()
            try await context.contacts.add(ContactModel(id: "bob", name: "Bob", email: "bob@example.com", note: "old"))
            try await context.settle()
            try await context.contacts.update(ContactModel(id: "bob", name: "Robert", note: "new", isResponder: true))
            try await context.settle()
            let found = try await context.contacts.contact("bob")
            try expectEqual(found.name, "Robert", "the name")
            try expectEqual(found.email, nil, "the address")
            try expectEqual(found.note, "new", "the note")
            try expectEqual(found.isResponder, true, "whether they are notified")
            _ = try expectValue(found.addedAt, "the time of adding, which no one changed")
        },
        DomainCheck("what is not there cannot be changed") { context in
            try await context.signIn()
            try await context.expectFailure(.notFound, as: ContactsError.self, in: "changing it") {
                try await context.contacts.update(ContactModel(id: "missing", name: "Missing"))
            }
            try expectEqual(try await context.contacts.contacts().count, 0, "the number of contacts")
        },
        DomainCheck("a removed contact is gone, and removing it again is no error") { context in
            try await context.signIn()
            try await context.contacts.add(ContactModel(id: "bob", name: "Bob"))
            try await context.contacts.remove("bob")
            try await context.contacts.remove("bob")
            try await context.settle()
            try expectEqual(try await context.contacts.contacts().count, 0, "the number of contacts")
        },
        DomainCheck("adding on both sides shows on both once the other has accepted", needs: .batches) { context in
            let alice = try await context.signIn("alice")
            let other = try await context.anotherDevice()
            let bob = try await context.signIn("bob", on: other)
            try await context.contacts.addMutually(
                ContactModel(id: bob.id, name: "Bob", isResponder: true),
                me: ContactModel(id: "whatever", name: "Alice", isDependent: true))
            try await context.settle()
            try expectEqual(try await context.contacts.contacts().map(\.id), [bob.id], "Alice's contacts")
            try expectEqual(
                try await other.contacts.contacts().count, 0, "the number of Bob's contacts before he accepts")
            let request = try expectValue(try await other.contacts.requests().first, "the request that Bob has")
            try expectEqual(request.id, alice.id, "who has asked")
            _ = try expectValue(request.sentAt, "when she asked")
            var entry = request.contact
            entry.note = "from the choir"
            try await other.contacts.accept(entry)
            try await other.core.storage.waitForPendingWrites()
            let theirs = try await other.contacts.contact(alice.id)
            try expectEqual(theirs.name, "Alice", "the name in Bob's list")
            try expectEqual(theirs.isDependent, true, "what Alice is to Bob")
            try expectEqual(theirs.note, "from the choir", "Bob's note")
            try expectEqual(try await other.contacts.requests().count, 0, "the number of requests left")
        },
        DomainCheck("who adds somebody that has asked is on both lists at once", needs: .batches) { context in
            let alice = try await context.signIn("alice")
            let other = try await context.anotherDevice()
            let bob = try await context.signIn("bob", on: other)
            try await context.contacts.addMutually(
                ContactModel(id: bob.id, name: "Bob"), me: ContactModel(id: "", name: "Alice"))
            try await context.settle()
            _ = try expectValue(try await other.contacts.requests().first, "the request that Bob has")
            try await other.contacts.addMutually(
                ContactModel(id: alice.id, name: "Alice B."), me: ContactModel(id: "", name: "Bob"))
            try await other.core.storage.waitForPendingWrites()
            try expectEqual(try await other.contacts.contact(alice.id).name, "Alice B.", "the name in Bob's list")
            try expectEqual(try await other.contacts.requests().count, 0, "the number of Bob's requests")
            try expectEqual(try await context.contacts.requests().count, 0, "the number of Alice's requests")
        },
        DomainCheck("a request can be declined, and what was not asked cannot be accepted", needs: .batches) {
            context in
            let alice = try await context.signIn("alice")
            let other = try await context.anotherDevice()
            let bob = try await context.signIn("bob", on: other)
            try await context.contacts.addMutually(
                ContactModel(id: bob.id, name: "Bob"), me: ContactModel(id: "", name: "Alice", isResponder: true))
            try await context.settle()
            let request = try expectValue(try await other.contacts.requests().first, "the request that Bob has")
            try expectEqual(request.contact.isResponder, false, "whether a request makes a responder")
            try await other.contacts.decline(alice.id)
            try await other.contacts.decline(alice.id)
            try await other.core.storage.waitForPendingWrites()
            try expectEqual(try await other.contacts.requests().count, 0, "the number of requests")
            try await context.expectFailure(.notFound, as: ContactsError.self, in: "accepting it") {
                try await other.contacts.accept(ContactModel(id: alice.id, name: "Alice"))
            }
            try expectEqual(try await other.contacts.contacts().count, 0, "the number of Bob's contacts")
        },
        DomainCheck("who is blocked is gone from the list, until they are unblocked", needs: .batches) { context in
            let alice = try await context.signIn("alice")
            try await context.contacts.add(ContactModel(id: "mallory", name: "Mallory"))
            try await context.contacts.block("mallory")
            try await context.settle()
            try expectEqual(try await context.contacts.contacts().count, 0, "the number of contacts")
            try expectEqual(try await context.contacts.blocked(), ["mallory"], "who is blocked by \(alice.id)")
            try await context.contacts.unblock("mallory")
            try await context.contacts.unblock("mallory")
            try await context.settle()
            try expectEqual(try await context.contacts.blocked(), [], "who is blocked")
        },
        DomainCheck("the stream of requests follows", needs: .live, .batches) { context in
            let alice = try await context.signIn("alice")
            let other = try await context.anotherDevice()
            let bob = try await context.signIn("bob", on: other)
            let probe = context.watch(other.contacts.requestsStream())
            try await probe.newest("that there are none") { $0.isEmpty }
            try await context.contacts.addMutually(
                ContactModel(id: bob.id, name: "Bob"), me: ContactModel(id: "", name: "Alice"))
            try await probe.newest("the one") { $0.map(\.id) == [alice.id] && $0.first?.sentAt != nil }
            try await context.contacts.removeMutually(bob.id)
            try await probe.newest("that it was taken back") { $0.isEmpty }
        },
        DomainCheck("adding on both sides happens on both or neither", needs: .batches) { context in
            let alice = try await context.signIn("alice")
            let other = try await context.anotherDevice()
            let bob = try await context.signIn("bob", on: other)
            try await context.contacts.add(ContactModel(id: bob.id, name: "Bob"))
            try await context.settle()
            try await context.expectFailure(.alreadyExists, as: ContactsError.self, in: "adding on both sides") {
                try await context.contacts.addMutually(
                    ContactModel(id: bob.id, name: "Bob again"), me: ContactModel(id: alice.id, name: "Alice"))
            }
            try expectEqual(try await other.contacts.requests().count, 0, "the number of Bob's requests")
            try expectEqual(try await context.contacts.contact(bob.id).name, "Bob", "the name in Alice's list")
        },
        DomainCheck("removing on both sides leaves neither", needs: .batches) { context in
            let alice = try await context.signIn("alice")
            let other = try await context.anotherDevice()
            let bob = try await context.signIn("bob", on: other)
            try await context.contacts.addMutually(
                ContactModel(id: bob.id, name: "Bob"), me: ContactModel(id: alice.id, name: "Alice"))
            try await context.settle()
            try await other.contacts.accept(ContactModel(id: alice.id, name: "Alice"))
            try await other.core.storage.waitForPendingWrites()
            try await context.contacts.removeMutually(bob.id)
            try await context.settle()
            try expectEqual(try await context.contacts.contacts().count, 0, "the number of Alice's contacts")
            try expectEqual(try await other.contacts.contacts().count, 0, "the number of Bob's contacts")
        },
        DomainCheck("the stream of contacts follows", needs: .live) { context in
            try await context.signIn()
            let probe = context.watch(context.contacts.contactsStream())
            try await probe.newest("that there are none") { $0.isEmpty }
            try await context.contacts.add(ContactModel(id: "1", name: "Zoe"))
            try await context.contacts.add(ContactModel(id: "2", name: "Anna"))
            try await probe.newest("both, by name") { $0.map(\.name) == ["Anna", "Zoe"] }
            try await context.contacts.remove("2")
            try await probe.newest("the one that is left") { $0.map(\.name) == ["Zoe"] }
        },
        DomainCheck("everybody has contacts of their own") { context in
            try await context.signIn("alice")
            try await context.contacts.add(ContactModel(id: "x", name: "Alice's"))
            try await context.settle()
            try await context.signIn("bob")
            try expectEqual(try await context.contacts.contacts().count, 0, "the number of Bob's contacts")
        },
    ].within("contacts")
}
