import Switchyard
import SwitchyardBytes

/// The behaviour of clients of several providers side by side, and of switching between them.
public enum SwitchingConformance {
    public static let all: [SwitchingCheck] = [mixedChecks, moveChecks].flatMap { $0 }

    /// The checks that apply to providers with these features.
    public static func checks(for features: SwitchingFeatures) -> [SwitchingCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for providers with these features.
    public static func leftOut(for features: SwitchingFeatures) -> [String] { all.leftOut(for: features) }
}

extension SwitchingConformance {
    static let mixedChecks: [SwitchingCheck] = [
        SwitchingCheck("each client is its provider's") { context in
            try expectEqual(context.infrastructure.storage.provider, context.features.first, "the storage's provider")
            let selection = await context.infrastructure.selection
            try expectEqual(
                context.infrastructure.auth.provider, selection.provider(for: .auth), "the auth client's provider")
        },
        SwitchingCheck("documents of one provider serve the session of the chosen auth") { context in
            let path = context.items.document("a")
            try await context.store.set(path, ["text": "x"])
            try await context.store.expect(path, holds: ["text": "x"])
            try await context.first.expect(path, holds: ["text": "x"])
            try await context.second.expectMissing(path)
        },
        SwitchingCheck("domain clients stand on the chosen storage and the chosen auth") { context in
            let user = try expectValue(await context.infrastructure.auth.currentUser, "a user")
            let profile = try await context.infrastructure.users.currentUser()
            try expectEqual(profile.id, user.id, "the user's name")
            try await context.infrastructure.storage.waitForPendingWrites()
            let path = try StoragePath(validating: "users/\(user.id)")
            try expect(
                try await context.first.read(path).exists, "the profile is on the first storage", found: "it is not")
            try expect(try await !context.second.read(path).exists, "it is not on the second", found: "it is")
            try await context.first.delete(path)
        },
        SwitchingCheck("a client that was left out refuses, and says what to do") { context in
            var selection = context.harness.selection
            selection.omit(.messaging)
            selection.omit(.files)
            let infrastructure = try await context.factory.make(selection)
            _ = try await expectFailure([MessagingError.Code.unsupported], as: MessagingError.self, "a token") {
                try await infrastructure.messaging.token()
            }
            _ = try await expectFailure([FileStorageError.Code.unsupported], as: FileStorageError.self, "a list") {
                try await infrastructure.files.list()
            }
            await infrastructure.shutDown()
        },
        SwitchingCheck("a provider that no one supplied is refused by name") { context in
            var selection = context.harness.selection
            selection.storage = "no-such-provider"
            let wrong = selection
            let error = try await expectFailure(
                [InfrastructureError.Code.unknownProvider], as: InfrastructureError.self, "making it"
            ) {
                try await context.factory.make(wrong)
            }
            try expect(
                error.message.contains("no-such-provider") && error.message.contains(context.features.first.rawValue),
                "the error names what was asked for and what there is", found: error.message)
        },
    ].within("mixed")

    static let moveChecks: [SwitchingCheck] = [
        SwitchingCheck("after a switch calls go to the new storage, and back again") { context in
            let path = context.items.document("a")
            let storage = context.store
            try await storage.set(path, ["text": "on the first"])
            try await context.goOver(to: context.features.second)
            try expectEqual(storage.client.provider, context.features.second, "the storage's provider")
            try await storage.expectMissing(path)
            try await storage.set(path, ["text": "on the second"])
            try await context.second.expect(path, holds: ["text": "on the second"])
            try await context.goOver(to: context.features.first)
            try await storage.expect(path, holds: ["text": "on the first"])
        },
        SwitchingCheck("the report says what moved") { context in
            let report = try await context.goOver(to: context.features.second)
            let move = try expectValue(report.moves.first { $0.service == .storage }, "a move of the storage")
            try expectEqual(move.from, context.features.first, "where from")
            try expectEqual(move.to, context.features.second, "where to")
            try expect(!report.moves.contains { $0.service == .auth }, "auth did not move", found: "it did")
            let drained = await report.drained()
            try expectEqual(drained.abandonedCalls, 0, "the number of calls that were cut off")
            try expect(drained.leftWrites.isEmpty, "no write was left behind", found: "\(drained.leftWrites)")
        },
        SwitchingCheck("going over to what is chosen already moves nothing") { context in
            let report = try await context.goOver(to: context.features.first)
            try expectEqual(report.moves.count, 0, "the number of moves")
            try await context.store.set(context.items.document("a"), ["text": "x"])
        },
        SwitchingCheck("a stream moves over, and its changes lead from what it showed to what it shows", needs: .live) {
            context in
            try await context.first.seed(context.items, ["a": ["number": 1], "b": ["number": 2]])
            try await context.second.seed(context.items, ["b": ["number": 20], "c": ["number": 3]])
            let probe = context.watch(
                context.infrastructure.storage.snapshots(of: Query(in: context.items).ordered(by: "number")))
            try await probe.newest("the first provider's documents") { $0.documents.map(\.id) == ["a", "b"] }
            try await context.goOver(to: context.features.second)
            try await probe.newest("the second provider's documents") { $0.documents.map(\.id) == ["c", "b"] }
            try await context.second.set(context.items.document("d"), ["number": 1])
            try await probe.newest("a change on the second") { $0.documents.map(\.id) == ["d", "c", "b"] }
            try await context.goOver(to: context.features.first)
            try await probe.newest("the first provider's documents again") { $0.documents.map(\.id) == ["a", "b"] }
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        SwitchingCheck("a stream of one document moves over", needs: .live) { context in
            let path = context.items.document("a")
            try await context.first.set(path, ["number": 1])
            let probe = context.watch(context.infrastructure.storage.snapshots(of: path))
            try await probe.newest("the first provider's") { $0["number"]?.integerValue == 1 }
            try await context.goOver(to: context.features.second)
            try await probe.newest("that the second has none") { !$0.exists }
            try await context.first.set(path, ["number": 2])
            try await context.second.set(path, ["number": 30])
            try await probe.newest("the second provider's") { $0["number"]?.integerValue == 30 }
            try expect(
                !probe.elements.contains { $0["number"]?.integerValue == 2 }, "nothing more comes of the first",
                found: "something does")
        },
        SwitchingCheck("writes during switches each arrive on one of the two, and none is lost", deadline: .seconds(90))
        { context in
            let store = context.store
            let writer = Task {
                for index in 0..<60 {
                    try await store.set(
                        context.items.document("d\(100 + index)"), ["number": .value(.integer(Int64(index)))])
                }
            }
            for round in 0..<6 {
                try await context.goOver(to: round.isMultiple(of: 2) ? context.features.second : context.features.first)
            }
            try await writer.value
            let first = Set(try await context.first.ids(Query(in: context.items)))
            let second = Set(try await context.second.ids(Query(in: context.items)))
            try expectEqual(first.union(second).count, 60, "the number of documents on both")
            try expect(
                first.isDisjoint(with: second), "none is on both", found: "\(first.intersection(second).sorted())")
        },
        SwitchingCheck("a switch that fails changes nothing") { context in
            let path = context.items.document("a")
            try await context.store.set(path, ["text": "x"])
            _ = try await expectFailure(
                [InfrastructureError.Code.unknownProvider], as: InfrastructureError.self, "the switch"
            ) {
                try await context.goOver(to: "no-such-provider")
            }
            try expectEqual(context.infrastructure.storage.provider, context.features.first, "the storage's provider")
            try await context.store.expect(path, holds: ["text": "x"])
            try expectEqual(
                await context.infrastructure.selection.provider(for: .storage), context.features.first, "what is chosen"
            )
        },
        SwitchingCheck("a transaction that has begun ends where it began", needs: .transactions) { context in
            let path = context.items.document("a")
            try await context.first.set(path, ["number": 1])
            let attempts = Counter()
            let begun = Gate()
            let mayGoOn = Gate()
            let storage = context.infrastructure.storage
            let transaction = Task {
                try await storage.transaction { transaction in
                    attempts.add()
                    let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                    begun.open()
                    await mayGoOn.wait()
                    try await transaction.set(path, ["number": .value(.integer(number + 1))])
                }
            }
            await begun.wait()
            let move = Task { try await context.goOver(to: context.features.second) }
            mayGoOn.open()
            try await transaction.value
            _ = try await move.value
            try expectEqual(attempts.value, 1, "the number of attempts")
            try await context.first.expect(path, holds: ["number": 2])
            try await context.second.expectMissing(path)
        },
        SwitchingCheck("who is signed in stays so when the storage is exchanged") { context in
            let user = try expectValue(await context.infrastructure.auth.currentUser, "a user")
            let probe = context.watch(context.infrastructure.auth.authStateStream())
            try await probe.newest("the user") { $0.user?.id == user.id }
            try await context.goOver(to: context.features.second)
            try expectEqual(await context.infrastructure.auth.currentUser?.id, user.id, "the user")
            try expectEqual(try await context.infrastructure.auth.accessToken().userID, user.id, "whose token it is")
            try expect(
                probe.elements.allSatisfy { $0.user?.id == user.id || $0 == .unknown }, "the state never changed",
                found: "it did")
        },
        SwitchingCheck("domain clients follow the storage, and their streams with them", needs: .live) { context in
            let contacts = context.infrastructure.contacts
            try await contacts.add(ContactModel(id: "one", name: "One"))
            let probe = context.watch(contacts.contactsStream())
            try await probe.newest("the contact on the first") { $0.map(\.id) == ["one"] }
            try await context.goOver(to: context.features.second)
            try await probe.newest("none on the second") { $0.isEmpty }
            try await contacts.add(ContactModel(id: "two", name: "Two"))
            try await probe.newest("the contact on the second") { $0.map(\.id) == ["two"] }
            try await contacts.remove("two")
            try await context.goOver(to: context.features.first)
            try await probe.newest("the first's contact again") { $0.map(\.id) == ["one"] }
            try await contacts.remove("one")
        },
        SwitchingCheck("a domain client that is pinned stays where it is") { context in
            try await context.infrastructure.use(context.features.first, for: .contacts)
            let contacts = context.infrastructure.contacts
            try await contacts.add(ContactModel(id: "one", name: "One"))
            try await context.goOver(to: context.features.second)
            try expectEqual(try await contacts.contacts().map(\.id), ["one"], "the contacts")
            try await contacts.remove("one")
        },
        SwitchingCheck(
            "a network that is switched off stays off over a switch, and writes wait on both", needs: .offline
        ) { context in
            let (path, later) = (context.items.document("a"), context.items.document("b"))
            let storage = context.infrastructure.storage
            try await storage.disableNetwork()
            try await storage.setDocument(path, ["number": 1])
            let report = try await context.goOver(to: context.features.second)
            let left = try expectValue(report.leftWrites.first, "what is left on the first")
            try expectEqual(left.provider, context.features.first, "whose writes they are")
            try expectEqual(left.count, 1, "the number of writes left on the first")
            try await context.second.expectMissing(path)
            try await storage.setDocument(later, ["number": 2])
            try await context.second.expectMissing(later)
            try await storage.enableNetwork()
            try await storage.waitForPendingWrites()
            try await context.second.expect(later, holds: ["number": 2])
            guard !left.isOnDisk else { return }
            let drained = await report.drained()
            try expect(drained.leftWrites.isEmpty, "the first's write is sent too", found: "\(drained.leftWrites)")
            try await context.first.expect(path, holds: ["number": 1])
        },
        SwitchingCheck("a whole new selection is gone over to at once") { context in
            var selection = context.harness.selection
            selection.storage = context.features.second
            selection.omit(.messaging)
            let report = try await context.infrastructure.use(selection)
            try expect(report.moves.contains { $0.service == .storage }, "the storage moved", found: "it did not")
            try expectEqual(context.infrastructure.storage.provider, context.features.second, "the storage's provider")
            try expectEqual(await context.infrastructure.selection, selection, "what is chosen")
        },
        SwitchingCheck("auth is exchanged too, and the state shows it", needs: .secondAuth) { context in
            let probe = context.watch(context.infrastructure.auth.authStateStream())
            try await probe.newest("the user") { $0.isSignedIn }
            try await context.infrastructure.use(context.features.second, for: .auth)
            try await probe.newest("that no user is signed in there") { !$0.isSignedIn && $0 != .unknown }
            try await context.infrastructure.use(context.harness.selection)
            try await probe.newest("the user again") { $0.isSignedIn }
        },
        SwitchingCheck("the end of everything ends every stream and every call", needs: .live) { context in
            let probe = context.watch(context.infrastructure.storage.snapshots(of: context.items.document("a")))
            try await probe.first("the missing document")
            await context.infrastructure.shutDown()
            await context.infrastructure.shutDown()
            _ = try await probe.end()
            try await context.store.expectFailure(.shutDown, in: "reading") {
                try await context.infrastructure.storage.document(context.items.document("a"))
            }
            _ = try await expectFailure([InfrastructureError.Code.shutDown], as: InfrastructureError.self, "a switch") {
                try await context.goOver(to: context.features.second)
            }
        },
    ].within("moving")
}
