import Switchyard

extension DomainConformance {
    /// Access rules, if the harness declares that they are enforced.
    static let ruleChecks: [DomainCheck] = [
        DomainCheck("a stranger can do nothing to a person, nor to their contacts", needs: .rules) { context in
            let scene = try await RuleSetup(context)
            let attempts = scene.attempts
            try expect(attempts.count >= 55, "there are fifty-five attempts", found: "\(attempts.count)")
            for attempt in attempts { try await attempt.expectRefusal(on: scene.carolDevice) }
            try await scene.expectUntouched()
        },
        DomainCheck("a responder sees check-ins and the profile, until they are one no more", needs: .rules, .batches) {
            context in
            let scene = try await RuleSetup(context)
            let storage = scene.bobDevice.core.storage
            let checkIns = Query(in: "checkIns").where("userID", .equal, scene.alice.id)
            try expectEqual(
                try await storage.documents(checkIns, from: .server).documents.count, 1, "the check-ins that Bob sees")
            let profile = try StoragePath(validating: "users/\(scene.alice.id)")
            try expectEqual(
                try await storage.document(profile, from: .server)["displayName"], "Alice", "the name that Bob sees")
            try await context.contacts.update(ContactModel(id: scene.bob.id, name: "Bob"))
            try await context.settle()
            try await RuleAttempt.query("the check-ins", checkIns).expectRefusal(on: scene.bobDevice)
            try await RuleAttempt.read("the profile", profile).expectRefusal(on: scene.bobDevice)
        },
        DomainCheck("a contact leaves a notification, and reads none", needs: .rules, .batches) { context in
            let scene = try await RuleSetup(context)
            let storage = scene.bobDevice.core.storage
            let inbox = try CollectionPath(validating: "users/\(scene.alice.id)/notifications")
            let model = NotificationModel(id: "hello", title: "Hello", body: "From Bob", sentAt: .at(1_700_000_100))
            try await storage.setDocument(inbox.document("hello"), model.fields).acknowledged()
            let found = try await context.notifications.notifications().map(\.id)
            try expect(found.contains("hello"), "Alice has it", found: "\(found)")
            for attempt in [
                RuleAttempt.read("reading it", inbox.document("hello")),
                .query("reading all", Query(in: inbox)),
                .write("changing it", .update(inbox.document("hello"), ["title": "Other"])),
                .write("deleting it", .delete(inbox.document("hello"))),
            ] { try await attempt.expectRefusal(on: scene.bobDevice) }
        },
        DomainCheck("who asks is on both lists once they are accepted, and no responder", needs: .rules, .batches) {
            context in
            let scene = try await RuleSetup(context)
            let carol = scene.carolDevice
            func ask() async throws {
                try await carol.contacts.addMutually(
                    ContactModel(id: scene.alice.id, name: "Alice"), me: ContactModel(id: "", name: "Carol"))
                try await carol.core.storage.waitForPendingWrites()
            }
            try await ask()
            try await RuleAttempt.write("a notification", scene.notification).expectRefusal(on: carol)
            let request = try expectValue(try await context.contacts.requests().first, "Carol's request")
            try await context.contacts.accept(request.contact)
            try await context.settle()
            let entry = try await context.contacts.contact(scene.carol.id)
            try expectEqual(entry.isResponder, false, "whether Carol is a responder")
            let path = try StoragePath(validating: "users/\(scene.alice.id)/contacts/\(scene.carol.id)")
            for attempt in [
                RuleAttempt.write("becoming a responder", .update(path, ["isResponder": true])),
                .write("being what the owner has not said", .update(path, ["isDependent": true])),
                .write("changing the owner's note", .update(path, ["note": "Carol's"])),
                .write("another field", .update(path, ["rank": 1])),
                .write("a name that is no text", .update(path, ["name": 1])),
                .read("reading the entry", path),
                .query(
                    "reading check-ins", Query(in: "checkIns").where("userID", .equal, scene.alice.id)),
                .write("a notification with another field", scene.notification(["title": "Hi", "isAdmin": true])),
                .write(
                    "a notification of any length",
                    scene.notification(["title": .of(String(repeating: "x", count: 1001))])),
            ] { try await attempt.expectRefusal(on: carol) }
            // Her own name and addresses are hers to bring up to date.
            try await carol.core.storage.updateDocument(path, ["name": "Carol C.", "email": "carol@example.com"])
                .acknowledged()
            try await carol.core.storage.commit(scene.batch(scene.notification)).acknowledged()
            // And she removes it again, on both sides.
            try await carol.contacts.removeMutually(scene.alice.id)
            try await carol.core.storage.waitForPendingWrites()
            try expect(
                try await !context.storage.document(path, from: .server).exists, "Carol is gone from Alice's list",
                found: "she is there")
        },
        DomainCheck(
            "who was removed does not come back by themselves, and who is blocked cannot ask", needs: .rules, .batches
        ) {
            context in
            let scene = try await RuleSetup(context)
            let carol = scene.carolDevice
            let mine = try StoragePath(validating: "users/\(scene.alice.id)/contacts/\(scene.carol.id)")
            let ask = try StoragePath(validating: "users/\(scene.alice.id)/contactRequests/\(scene.carol.id)")
            try await carol.contacts.addMutually(
                ContactModel(id: scene.alice.id, name: "Alice"), me: ContactModel(id: "", name: "Carol"))
            try await carol.core.storage.waitForPendingWrites()
            try await context.contacts.accept(ContactModel(id: scene.carol.id, name: "Carol"))
            try await context.settle()
            try await context.contacts.remove(scene.carol.id)
            try await context.settle()
            for attempt in [
                RuleAttempt.write("coming back", .set(mine, ["name": "Carol"])),
                .write("a notification", scene.notification),
            ] { try await attempt.expectRefusal(on: carol) }
            // Asking again is allowed, until she is blocked.
            try await carol.core.storage.setDocument(ask, ["name": "Carol"]).acknowledged()
            try await context.contacts.block(scene.carol.id)
            try await context.settle()
            for attempt in [
                RuleAttempt.write("asking again", .set(ask, ["name": "Carol"])),
                .write("coming back", .set(mine, ["name": "Carol"])),
                .write("a notification", scene.notification),
                .write(
                    "ending it",
                    .delete(try StoragePath(validating: "users/\(scene.alice.id)/blockedContacts/\(scene.carol.id)"))),
            ] { try await attempt.expectRefusal(on: carol) }
            // Also while she is on the list.
            try await context.contacts.add(ContactModel(id: scene.carol.id, name: "Carol"))
            try await context.settle()
            for attempt in [
                RuleAttempt.write("a notification", scene.notification),
                .write("changing her entry", .update(mine, ["name": "C."])),
            ] { try await attempt.expectRefusal(on: carol) }
            try await context.contacts.unblock(scene.carol.id)
            try await context.settle()
            try await carol.core.storage.commit(scene.batch(scene.notification)).acknowledged()
        },
    ].within("rules")
}

/// Alice has a profile, a check-in, a notification, and Bob as a contact and responder; Carol is a stranger to both.
private struct RuleSetup {
    let context: DomainContext
    let alice: AuthUser
    let bob: AuthUser
    let carol: AuthUser
    let bobDevice: DomainDevice
    let carolDevice: DomainDevice
    let checkIn: StoragePath

    init(_ context: DomainContext) async throws {
        self.context = context
        alice = try await context.signIn("alice")
        bobDevice = try await context.anotherDevice()
        bob = try await context.signIn("bob", on: bobDevice)
        carolDevice = try await context.anotherDevice()
        carol = try await context.signIn("carol", on: carolDevice)
        _ = try await context.users.currentUser()
        try await context.users.updateProfile(ProfileChanges(displayName: "Alice"))
        _ = try await bobDevice.users.currentUser()
        try await bobDevice.core.storage.waitForPendingWrites()
        try await context.contacts.addMutually(
            ContactModel(id: bob.id, name: "Bob", isResponder: true),
            me: ContactModel(id: "", name: "Alice", isDependent: true))
        try await context.checkIns.checkIn()
        try await context.notify("n", at: 1, to: alice.id)
        try await context.settle()
        try await bobDevice.contacts.accept(ContactModel(id: alice.id, name: "Alice", isDependent: true))
        try await bobDevice.core.storage.waitForPendingWrites()
        let mine = Query(in: "checkIns").where("userID", .equal, alice.id)
        checkIn = try expectValue(
            try await context.storage.documents(mine, from: .server).documents.first?.path, "Alice's check-in")
    }

    private func path(_ segments: String...) -> StoragePath {
        // Only valid IDs and names are passed here.
        (try? StoragePath(validating: segments.joined(separator: "/"))) ?? "users/missing"
    }

    /// A notification for Alice from anybody.
    var notification: RuleAttempt.Change { notification(["title": "Hi"]) }

    func notification(_ fields: WriteFields) -> RuleAttempt.Change {
        .set(path("users", alice.id, "notifications", "n-\(UInt32.random(in: 0 ... .max))"), fields)
    }

    func batch(_ change: RuleAttempt.Change) throws -> WriteBatch {
        var batch = WriteBatch()
        try change.add(to: &batch)
        return batch
    }

    /// A stranger's attempts.
    var attempts: [RuleAttempt] {
        let (a, b, c) = (alice.id, bob.id, carol.id)
        let profile = path("users", a)
        let entry = path("users", a, "contacts", b)
        let mine = path("users", a, "contacts", c)
        let notification = path("users", a, "notifications", "n")
        let back = path("users", c, "contacts", a)
        let ask = path("users", a, "contactRequests", c)
        let people = Query(in: "users")
        let hers = profile.collection("contacts")
        let inbox = profile.collection("notifications")
        let checkIns = Query(in: "checkIns")
        let fake: WriteFields = ["userID": .of(a), "checkedInAt": .serverTime]
        return [
            .read("the profile", profile), .read("Bob's profile", path("users", b)), .read("a contact", entry),
            .read("a contact of Bob's", path("users", b, "contacts", a)), .read("the notification", notification),
            .read("the check-in", checkIn), .read("something else of hers", path("users", a, "settings", "s")),
            .query("all people", people), .query("people by name", people.where("displayName", .equal, "Alice")),
            .query("the contacts", Query(in: hers)),
            .query("the responders", Query(in: hers).where("isResponder", .equal, true)),
            .query("Bob's contacts", Query(in: path("users", b).collection("contacts"))),
            .query("the notifications", Query(in: inbox)),
            .query("Bob's notifications", Query(in: path("users", b).collection("notifications"))),
            .query("all check-ins", checkIns.limited(to: 5)),
            .query("her check-ins", checkIns.where("userID", .equal, a)),
            .query("check-ins since", checkIns.where("checkedInAt", .greaterThan, .timestamp(.at(0)))),
            .query("hers or mine", checkIns.where("userID", .in, [.string(a), .string(c)])),
            .write("taking the profile", .set(profile, ["displayName": "Carol"])),
            .write("merging into the profile", .merge(profile, ["displayName": "Carol"])),
            .write("changing the profile", .update(profile, ["displayName": "Carol"])),
            .write("deleting the profile", .delete(profile)),
            .write("adding to the tree", .set(path("users", a, "settings", "s"), ["dark": true])),
            .write("changing a contact", .update(entry, ["isResponder": false])),
            .write("deleting a contact", .delete(entry)),
            .write("replacing a contact", .set(entry, ["name": "Carol"])),
            .write("naming somebody a contact", .set(path("users", a, "contacts", "dave"), ["name": "Dave"])),
            .write("being on one list only", .set(mine, ["name": "Carol"])),
            .write("being a responder on one list", .set(mine, ["name": "Carol", "isResponder": true])),
            .writes(
                "being a responder on both lists",
                [.set(path("users", c, "contacts", a), ["name": "Alice"]), .set(mine, ["isResponder": true])]),
            .writes(
                "making Bob one on both lists",
                [.set(path("users", c, "contacts", a), ["name": "Alice"]), .merge(entry, ["isResponder": true])]),
            .writes("being on both lists", [.set(back, ["name": "Alice"]), .set(mine, ["name": "Carol"])]),
            .writes(
                "merging oneself into both lists", [.set(back, ["name": "Alice"]), .merge(mine, ["name": "Carol"])]),
            .writes(
                "being on both lists and leaving a notification",
                [
                    .set(back, ["name": "Alice"]), .set(mine, ["name": "Carol"]),
                    .set(inbox.document("y"), ["title": "Hi"]),
                ]),
            .writes(
                "asking and leaving a notification",
                [
                    .set(back, ["name": "Alice"]), .set(ask, ["name": "Carol"]),
                    .set(inbox.document("y"), ["title": "Hi"]),
                ]),
            .write("asking without having her on one's list", .set(ask, ["name": "Carol"])),
            .writes(
                "asking to be a responder",
                [.set(back, ["name": "Alice"]), .set(ask, ["name": "C", "isResponder": true])]),
            .writes(
                "asking with other fields", [.set(back, ["name": "Alice"]), .set(ask, ["name": "C", "isAdmin": true])]),
            .writes("asking with no text for a name", [.set(back, ["name": "Alice"]), .set(ask, ["name": ["a": 1]])]),
            .writes(
                "asking at any length",
                [.set(back, ["name": "Alice"]), .set(ask, ["name": .of(String(repeating: "x", count: 1001))])]),
            .writes(
                "asking under Bob's name",
                [.set(back, ["name": "Alice"]), .set(path("users", a, "contactRequests", b), ["name": "Bob"])]),
            .write("unblocking oneself", .delete(path("users", a, "blockedContacts", c))),
            .write("blocking Bob for her", .set(path("users", a, "blockedContacts", b), ["blockedAt": .serverTime])),
            .query("her requests", Query(in: profile.collection("contactRequests"))),
            .query("whom she has blocked", Query(in: profile.collection("blockedContacts"))),
            .read("her request", path("users", a, "contactRequests", b)),
            .write("a notification", .set(inbox.document("x"), ["title": "Hi"])),
            .write("a notification for Bob", .set(path("users", b, "notifications", "x"), ["title": "Hi"])),
            .write("marking a notification", .update(notification, ["isRead": true])),
            .write("deleting a notification", .delete(notification)),
            .write("a check-in in her name", .set(path("checkIns", "fake-\(c)"), fake)),
            .write("taking a check-in", .set(checkIn, ["userID": .of(c), "checkedInAt": .serverTime])),
            .write("changing a check-in", .update(checkIn, ["checkedInAt": .serverTime])),
            .write("deleting a check-in", .delete(checkIn)),
            .write("a check-in of no one", .set(path("checkIns", "none-\(c)"), ["checkedInAt": .serverTime])),
            .writes(
                "her last check-in with one's own",
                [
                    .set(path("checkIns", "mine-\(c)"), ["userID": .of(c), "checkedInAt": .serverTime]),
                    .merge(profile, ["lastCheckInAt": .serverTime]),
                ]),
        ]
    }

    func expectUntouched() async throws {
        let profile = try await context.storage.document(path("users", alice.id), from: .server)
        try expectEqual(profile["displayName"], "Alice", "the name in the profile")
        try expectEqual(
            try await context.storage.documents(
                Query(in: path("users", alice.id).collection("contacts")), from: .server
            ).documents.map(\.id), [bob.id], "Alice's contacts")
        let entry = try await context.contacts.contact(bob.id)
        try expect(entry.isResponder && entry.name == "Bob", "Bob is on her list as he was", found: "\(entry)")
        try expectEqual(
            try await context.storage.documents(
                Query(in: path("users", alice.id).collection("notifications")), from: .server
            ).documents.map(\.id), ["n"], "her notifications")
        let history = try await context.checkIns.history()
        try expectEqual(history.map(\.id), [checkIn.id], "her check-ins")
        try expect(
            try await !carolDevice.core.storage.document(
                path("users", carol.id, "contacts", alice.id), from: .server
            ).exists, "nothing of a refused commit is there", found: "Carol's half")
    }
}

/// An action that the rules forbid.
private enum RuleAttempt {
    enum Change {
        case set(StoragePath, WriteFields)
        case merge(StoragePath, WriteFields)
        case update(StoragePath, FieldUpdates)
        case delete(StoragePath)

        func add(to batch: inout WriteBatch) throws {
            switch self {
            case .set(let path, let fields): try batch.set(path, fields)
            case .merge(let path, let fields): try batch.merge(path, fields)
            case .update(let path, let updates): try batch.update(path, updates)
            case .delete(let path): batch.delete(path)
            }
        }
    }

    case read(String, StoragePath)
    case query(String, Query)
    case writes(String, [Change])

    static func write(_ name: String, _ change: Change) -> RuleAttempt { .writes(name, [change]) }

    /// A server may refuse to answer, or answer as if the documents did not exist.
    func expectRefusal(on device: DomainDevice) async throws {
        let storage = device.core.storage
        let me = await device.core.auth.currentUser?.id
        do {
            switch self {
            case .read(let name, let path):
                let found = try await storage.document(path, from: .server)
                try expect(!found.exists, "nothing is read: \(name)", found: "a document")
            case .query(let name, let query):
                let found = try await storage.documents(query, from: .server).documents
                    .filter { $0["userID"]?.stringValue != me }
                try expect(found.isEmpty, "nothing is found: \(name)", found: "\(found.count) documents")
            case .writes(let name, let changes):
                var batch = WriteBatch()
                for change in changes { try change.add(to: &batch) }
                try await storage.commit(batch).acknowledged()
                try expect(false, "it is refused: \(name)", found: "that it was done")
            }
        } catch let error as StorageError {
            try expectEqual(error.code, .unauthorized, "the refusal of \(self.name)")
        }
    }

    private var name: String {
        switch self {
        case .read(let name, _), .query(let name, _), .writes(let name, _): name
        }
    }
}
