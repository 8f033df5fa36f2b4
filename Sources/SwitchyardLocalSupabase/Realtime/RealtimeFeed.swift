import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// Delivers database events to the channels: reads the queue whenever it is notified.
///
/// A row is removed from the queue after delivery. Rows left uncertain by a broken connection are remembered, so that nothing
/// is lost, and nothing is delivered twice while the server runs.
final class RealtimeFeed: Sendable {
    private struct State {
        var isListening = false
        var task: Task<Void, Never>?
        var connection: PostgresConnection?
    }

    private static let batch = 500

    private let database: SupabaseDatabase
    private let hub: RealtimeHub
    private let sent: SentMessages
    private let now: @Sendable () -> Timestamp
    private let admits: @Sendable () -> Bool
    private let state = Mutex(State())

    /// - Parameter admits: Whether one more row is within the project's limits; others are dropped silently.
    init(
        database: SupabaseDatabase, hub: RealtimeHub, sent: SentMessages, now: @escaping @Sendable () -> Timestamp,
        admits: @escaping @Sendable () -> Bool
    ) {
        self.database = database
        self.sent = sent
        self.now = now
        self.hub = hub
        self.admits = admits
    }

    /// Whether database events are being received.
    var isListening: Bool { state.withLock(\.isListening) }

    /// - Parameter connected: Called whenever database events are received again.
    func start(connected: @escaping @Sendable () -> Void) async throws(PostgresFailure) {
        // Events from before listening began are discarded.
        _ = try await database.run([
            PostgresStatement("delete from realtime.queue"),
            PostgresStatement(
                "delete from realtime.messages where inserted_at < (now() at time zone 'utc') - interval '72 hours'"),
        ])
        let task = Task { [weak self] in
            var delivered: [Int64] = []
            while !Task.isCancelled {
                guard let self else { return }
                do throws(PostgresFailure) {
                    try await self.listen(&delivered, connected: connected)
                } catch {}
                self.state.withLock { $0.isListening = false }
                // The database is not available; keep retrying.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        state.withLock { $0.task = task }
    }

    func stop() async {
        let (task, connection) = state.withLock { ($0.task, $0.connection) }
        task?.cancel()
        connection?.close()
        await task?.value
    }

    /// Listens until the connection breaks.
    private func listen(
        _ delivered: inout [Int64], connected: @Sendable () -> Void
    ) async throws(PostgresFailure) {
        let signal = AsyncSignal()
        let connection = try await database.connect(notified: { _, _ in signal.ring() }, ended: { signal.ring() })
        defer { connection.close() }
        _ = try await connection.run([PostgresStatement("listen supabase_realtime")])
        state.withLock { state in
            state.connection = connection
            state.isListening = true
        }
        connected()
        while connection.isOpen, !Task.isCancelled {
            if try await deliverNext(&delivered) == 0 { await signal.wait() }
        }
    }

    /// - Parameter delivered: Rows that may still be in the queue although they were delivered.
    /// - Returns: The number of rows read.
    private func deliverNext(_ delivered: inout [Int64]) async throws(PostgresFailure) -> Int {
        let gone = JSON.array(delivered.map { .integer($0) }).text()
        let results = try await database.run([
            PostgresStatement(
                """
                delete from realtime.queue
                where position in (select p::bigint from jsonb_array_elements_text($1::jsonb) p)
                """, [gone], isPrepared: true),
            PostgresStatement(
                "select position, kind, content from realtime.queue order by position limit \(Self.batch)",
                isPrepared: true),
        ])
        delivered = []
        var entries: [(position: Int64, kind: String, content: JSON)] = []
        for row in results[1].rows {
            let texts = row.map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "" }
            guard texts.count == 3, let position = Int64(texts[0]) else { continue }
            entries.append((position, texts[1], (try? JSON(parsing: texts[2])) ?? .null))
        }
        // Messages do not wait for the check of who may see changes; the vendor separates them as well.
        for entry in entries where entry.kind != "change" {
            delivered.append(entry.position)
            if entry.kind == "message", hub.faults.admitsEvent() { deliver(message: entry.content) }
        }
        let changes = entries.filter { $0.kind == "change" }
        let viewers = try await viewers(of: changes.map { RowChange($0.content) })
        for (index, change) in changes.enumerated() {
            delivered.append(change.position)
            guard hub.faults.admitsEvent() else { continue }
            viewers[index]?.forEach { admits() ? hub.send($0.payload, to: $0.channel) : () }
        }
        return entries.count
    }

    private func deliver(message: JSON) {
        guard let topic = message["topic"]?.string, let event = message["event"]?.string, let id = message["id"]?.string
        else { return }
        if event == "message", topic.hasPrefix("switchyard:") { note(message["payload"], topic) }
        hub.broadcast(
            RealtimeFrame(
                topic: LocalChannel.prefix + topic, event: "broadcast",
                payload: [
                    "type": "broadcast", "event": .string(event), "payload": message["payload"] ?? [:],
                    "meta": ["id": .string(id)],
                ], bytes: message["bytes"]?.string.flatMap { Base64.decode($0.filter { !$0.isNewline }) },
                prefersBinary: true),
            to: RealtimeHub.ChannelKey(name: topic, isPrivate: message["private"]?.bool ?? false))
    }

    /// Notes a message to users, with who receives it now.
    private func note(_ payload: JSON?, _ topic: String) {
        var item = SentMessages.Message(
            at: now().microseconds / 1000, kind: .push, to: String(topic.dropFirst("switchyard:".count)),
            subject: payload?["title"]?.string ?? "", text: payload?["body"]?.string ?? "")
        item.receivers = hub.users(at: RealtimeHub.ChannelKey(name: topic, isPrivate: true))
        item.how = "realtime"
        item.data = payload?["data"]?.text()
        sent.add(item)
    }

    // MARK: Rows

    private struct Delivery {
        let channel: LocalChannel
        let payload: JSON
    }

    /// The recipients of each change, after checking the policies for each candidate.
    private func viewers(of changes: [RowChange?]) async throws(PostgresFailure) -> [Int: [Delivery]] {
        let listeners = hub.channels.filter { $0.state.withLock(\.receivesChanges) }
        var delivered: [Int: [Delivery]] = [:]
        // Clients with the same token see the same.
        for (_, group) in Dictionary(grouping: listeners, by: { $0.token.text }) {
            let wanted = changes.enumerated().compactMap { index, change in
                change.flatMap { change in
                    group.contains { $0.join.bindings.contains { $0.covers(change) } } ? (index, change) : nil
                }
            }
            guard let first = group.first, !wanted.isEmpty else { continue }
            let visibilities = try await visibility(wanted.map(\.1), as: first.token.token)
            for ((index, change), visibility) in zip(wanted, visibilities) {
                for channel in group {
                    let bindings = channel.join.bindings.filter {
                        $0.covers(change) && $0.filter?.matches(change.filtered) != false
                    }
                    guard !bindings.isEmpty else { continue }
                    let columns =
                        bindings.contains { $0.columns == nil }
                        ? nil : bindings.reduce(into: Set<String>()) { $0.formUnion($1.columns ?? []) }
                    if let payload = change.payload(for: visibility, ids: bindings.map(\.id), wanted: columns) {
                        delivered[index, default: []].append(Delivery(channel: channel, payload: payload))
                    }
                }
            }
        }
        return delivered
    }

    private func visibility(
        _ changes: [RowChange], as token: SupabaseToken
    ) async throws(PostgresFailure) -> [RowChange.Visibility] {
        let results = try await database.run(
            [
                PostgresStatement(
                    """
                    select coalesce(json_agg(realtime.look(c) order by n), '[]')
                    from jsonb_array_elements($1::jsonb) with ordinality as a(c, n)
                    """, [JSON.array(changes.map(\.content)).text()], isPrepared: true)
            ], as: token, readOnly: true)
        let answer = results[0].text.flatMap { try? JSON(parsing: $0) }?.array ?? []
        return answer.map { RowChange.Visibility($0) }
    }
}

/// Wakes a waiting task; one ring without a waiter is remembered.
private final class AsyncSignal: Sendable {
    private let state = Mutex<(hasRung: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    func ring() {
        let waiter = state.withLock { state in
            state.hasRung = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if state.hasRung || Task.isCancelled {
                        state.hasRung = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
    }
}
