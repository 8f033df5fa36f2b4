import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync

/// Plays one scenario: each step's action, then everything that the step says must be so.
struct SpecRunner {
    private let world: SpecWorld
    private var activeTargets: [Int: JSON] = [:]
    private var activeLimbo: Set<String> = []
    private var enqueuedLimbo: Set<String> = []

    static func run(_ scenario: JSON, _ configuration: SpecWorld.Configuration) throws {
        let config = scenario["config"]
        let world = try SpecWorld(
            configuration, isEager: config?["useEagerGCForMemory"]?.bool ?? true,
            limboLimit: config?["maxConcurrentLimboResolutions"]?.int)
        defer { world.shutDown() }
        var runner = SpecRunner(world: world)
        for (index, step) in (scenario["steps"]?.array ?? []).enumerated() {
            world.beginStep()
            do {
                try runner.act(step)
                try runner.check(step)
            } catch {
                throw SpecFailure("step \(index) \(step.object?.keys.joined(separator: "+") ?? ""): \(error)")
            }
        }
    }

    private init(world: SpecWorld) { self.world = world }

    // MARK: Actions

    private mutating func act(_ step: JSON) throws {
        for member in step.object?.members ?? JSONObject().members {
            let value = member.value
            switch member.key {
            case "expectedSnapshotEvents", "expectedState", "expectedSnapshotsInSyncEvents",
                "expectedWaitForPendingWritesEvents", "clientIndex":
                break
            case "userListen": try listen(value)
            case "userUnlisten": world.unlisten(try SpecValues.query(value[1] ?? .null))
            case "userSet":
                world.write(
                    DocumentWrite(path: try path(value[0]), operation: .set(SpecValues.data(value[1]!.object!))))
            case "userPatch": world.write(try SpecValues.patch(path(value[0]), value[1]!.object!))
            case "userDelete": world.write(DocumentWrite(path: try path(value), operation: .delete))
            case "addSnapshotsInSyncListener": world.addInSyncListener()
            case "removeSnapshotsInSyncListener": world.removeInSyncListener()
            case "waitForPendingWrites": world.wait()
            case "loadBundle":
                let bundle = try FirestoreBundleReader.bundle((value.string ?? "").utf8, in: SpecValues.database)
                world.feed(.load(bundle))
            case "watchAck": world.feed(.watched(.added(ids(value))))
            case "watchCurrent": world.feed(.watched(.current(ids(value[0]), token: token(value[1]))))
            case "watchRemove":
                if let cause = value["cause"], !cause.isNull {
                    try world.refuse(ids(value["targetIds"]), SpecValues.error(cause))
                } else {
                    world.feed(.watched(.removed(ids(value["targetIds"]))))
                }
            case "watchReset": world.feed(.watched(.reset(ids(value))))
            case "watchEntity": try entity(value)
            case "watchFilter":
                world.feed(
                    .watched(
                        .filter(
                            target: ids(value["targetIds"])[0], count: value["keys"]?.array?.count ?? 0,
                            unchanged: SpecValues.bloomFilter(value["bloomFilter"]))))
            case "watchSnapshot": snapshot(value)
            case "watchStreamClose":
                try world.closeWatch(
                    SpecValues.error(value["error"]), runsBackoff: value["runBackoffTimer"]?.bool ?? true)
            case "writeAck":
                try world.acknowledge(
                    Timestamp(microseconds: value["version"]?.int64 ?? 0),
                    keepsInQueue: value["keepInQueue"]?.bool ?? false)
            case "failWrite":
                try world.failWrite(
                    SpecValues.error(value["error"]), keepsInQueue: value["keepInQueue"]?.bool ?? false)
            case "enableNetwork": world.setNetwork(value.bool ?? true)
            case "runTimer": try run(timer: value.string ?? "")
            // One client has drained its queue by the end of each step, is always the primary one, and is never hidden;
            // which indexes it keeps is its own business.
            case "drainQueue", "applyClientState", "setIndexConfiguration": break
            case "shutdown": world.stop()
            case "clearPersistence": try world.clearPersistence()
            case "changeUser": world.setUser(value.string)
            case "restart": try world.restart()
            case "triggerLruGC":
                var limits = CacheLimits()
                limits.threshold = value.int64 ?? 0
                limits.percentile = 100
                world.feed(.collectGarbage(limits))
            case "failDatabase": try fail(value)
            default: throw SpecFailure("unknown step")
            }
        }
    }

    private func listen(_ value: JSON) throws {
        let query = try SpecValues.query(value["query"] ?? .null)
        let options = value["options"]
        world.listen(
            query,
            ViewOptions(
                includesMetadataChanges: options?["includeMetadataChanges"]?.bool ?? true,
                // Official runners listen without `waitForSyncWhenOnline` even where a step asks for it, and those steps
                // expect the snapshot that waiting would hold back. `ListenerTests` has the waiting.
                waitsForSync: false,
                readsCacheOnly: options?["source"]?.string == "cache"))
        let id = world.machine.targetID(of: query)
        // A listen that failed has none.
        if let id, id != value["targetId"]?.int { throw SpecFailure("target ID is \(id)") }
    }

    private func entity(_ value: JSON) throws {
        let targets = ids(value["targets"])
        let removed = ids(value["removedTargets"])
        if let key = value["key"], !key.isNull {
            world.feed(.watched(.left(try path(key), removedFrom: removed)))
            return
        }
        let documents = value["docs"]?.array ?? value["doc"].map { [$0] } ?? []
        for json in documents {
            let document = try SpecValues.document(json)
            if document.exists {
                world.feed(.watched(.changed(document, targets: targets, removedFrom: removed)))
            } else {
                world.feed(
                    .watched(
                        .deleted(
                            document.path, version: document.updateTime ?? .never, removedFrom: targets + removed)))
            }
        }
    }

    private func snapshot(_ value: JSON) {
        let targets = ids(value["targetIds"])
        let token = token(value["resumeToken"])
        if targets.isEmpty {
            let version = Timestamp(microseconds: value["version"]?.int64 ?? 0)
            world.feed(.watched(.snapshot(version: version, token: token)))
        } else {
            world.feed(.watched(.token(targets, token: token)))
        }
    }

    private func run(timer name: String) throws {
        let timers: [String: SyncTimer] = [
            "online_state_timeout": .onlineState, "listen_stream_idle": .watchIdle,
            "listen_stream_connection_backoff": .watchBackoff, "write_stream_idle": .writerIdle,
            "write_stream_connection_backoff": .writerBackoff, "async_queue_retry": .recovery,
        ]
        if name == "all" { return world.run(nil) }
        // Nothing of this engine waits for these.
        let others = [
            "health_check_timeout", "client_metadata_refresh", "lru_garbage_collection", "transaction_retry",
            "index_backfill",
        ]
        if others.contains(name) { return }
        guard let timer = timers[name] else { throw SpecFailure("unknown timer \(name)") }
        world.run(timer)
    }

    private func fail(_ value: JSON) throws {
        var operations = Set<StoreOperation>()
        for name in value.array ?? [] {
            guard let known = FailingStore.operations[name.string ?? ""] else {
                throw SpecFailure("unknown transaction")
            }
            operations.formUnion(known)
        }
        world.fail(operations)
    }

    private func path(_ json: JSON?) throws -> StoragePath { try StoragePath(validating: json?.string ?? "") }
    private func ids(_ json: JSON?) -> [Int] { json?.array?.compactMap(\.int) ?? [] }
    private func token(_ json: JSON?) -> [UInt8] { Array((json?.string ?? "").utf8) }

    // MARK: Expectations

    private mutating func check(_ step: JSON) throws {
        try SpecSnapshots.check(step["expectedSnapshotEvents"]?.array ?? [], world.events)
        let state = step["expectedState"]
        if let isShutDown = state?["isShutdown"]?.bool { try equal("shut down", world.isStopped, isShutDown) }
        if let isPrimary = state?["isPrimary"]?.bool { try equal("primary", true, isPrimary) }
        if let number = state?["numActiveClients"]?.int { try equal("clients", world.isStopped ? 0 : 1, number) }
        guard !world.isStopped else { return }
        if let targets = state?["activeTargets"]?.object {
            activeTargets = [:]
            for member in targets.members { activeTargets[Int(member.key)!] = member.value }
        }
        if let keys = state?["activeLimboDocs"]?.array { activeLimbo = Set(keys.compactMap(\.string)) }
        if let keys = state?["enqueuedLimboDocs"]?.array { enqueuedLimbo = Set(keys.compactMap(\.string)) }
        try equal("active limbo", Set(world.machine.activeLimboTargets.keys.map(\.rawValue)), activeLimbo)
        try equal("enqueued limbo", Set(world.machine.enqueuedLimbo.map(\.rawValue)), enqueuedLimbo)
        try checkTargets()
        let callbacks = state?["userCallbacks"]
        try equal("acknowledged", world.acknowledged, callbacks?["acknowledgedDocs"]?.array?.compactMap(\.string) ?? [])
        try equal("rejected", world.rejected, callbacks?["rejectedDocs"]?.array?.compactMap(\.string) ?? [])
        if let number = state?["numOutstandingWrites"]?.int {
            try equal("outstanding writes", world.machine.batchesInFlight, number)
        }
        if let number = state?["writeStreamRequestCount"]?.int {
            try equal("write requests", world.writeRequests, number)
        }
        if let number = state?["watchStreamRequestCount"]?.int {
            try equal("watch requests", world.watchRequests, number)
        }
        try equal("in-sync events", world.inSync, step["expectedSnapshotsInSyncEvents"]?.int ?? 0)
        try equal("finished waits", world.waitsFinished, step["expectedWaitForPendingWritesEvents"]?.int ?? 0)
    }

    private func checkTargets() throws {
        guard world.isNetworkEnabled else {
            return try equal("targets without network", world.activeTargets.count, 0)
        }
        try equal("target IDs", world.activeTargets.keys.sorted(), activeTargets.keys.sorted())
        for (id, expected) in activeTargets {
            guard let actual = world.activeTargets[id] else { continue }
            try equal("target \(id)", actual.target, try SpecValues.query(expected["queries"]?[0] ?? .null).target)
            try equal("token of \(id)", actual.resumeToken, token(expected["resumeToken"]))
            try equal(
                "purpose of \(id)", "TargetPurpose\(actual.purpose)".lowercased(),
                (expected["targetPurpose"]?.string ?? "TargetPurposeListen").lowercased())
            if let time = expected["readTime"]?.int64 {
                try equal("read time of \(id)", actual.readTime?.microseconds ?? 0, time)
            }
        }
        // While a failing store keeps the stream shut, look-ups wait for it.
        guard world.isWatchOpen else { return }
        for (path, id) in world.machine.activeLimboTargets where activeTargets[id] == nil {
            throw SpecFailure("look-up of \(path) is no active target")
        }
    }

    private func equal<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) throws {
        guard actual != expected else { return }
        throw SpecFailure("\(what): \(actual), expected \(expected)")
    }
}
