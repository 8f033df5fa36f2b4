import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// Messages of clients on their channels.
extension LocalRealtime {
    /// Handles one message of a client; the next one follows when this has finished.
    func take(_ frame: RealtimeFrame, from session: RealtimeSession) async {
        if frame.topic == "phoenix" {
            if frame.event == "heartbeat" { session.send(frame.reply()) }
            return
        }
        if frame.event == "phx_join" { return await join(frame, session) }
        guard let channel = session.channel(frame.topic) else {
            return session.send(frame.event == "phx_leave" ? frame.reply() : frame.refusal("unmatched topic"))
        }
        // It concerns an earlier join of the channel.
        if let ref = frame.joinRef, ref != channel.joinRef { return }
        guard messages.count(at: now) else { return end(channel, "Too many messages per second") }
        switch frame.event {
        case "phx_leave":
            session.send(frame.reply())
            close(channel)
        case "access_token": await renew(channel, frame.payload["access_token"]?.string)
        case "broadcast": broadcast(frame, on: channel)
        case "presence": presence(frame, on: channel)
        default: break
        }
    }

    /// Closes normally, without a reason.
    func close(_ channel: LocalChannel) {
        guard channel.session.remove(channel) else { return }
        hub.remove(channel)
        channel.send("phx_close", [:])
    }

    /// Ends the channel with a reason.
    func end(_ channel: LocalChannel, _ reason: String) {
        channel.system("system", "error", reason)
        close(channel)
    }

    // MARK: Joining

    private func join(_ frame: RealtimeFrame, _ session: RealtimeSession) async {
        guard frame.topic.hasPrefix(LocalChannel.prefix) else { return session.send(frame.refusal("unmatched topic")) }
        guard frame.topic != LocalChannel.prefix else {
            return session.send(frame.refusal("TopicNameRequired: You must provide a topic name"))
        }
        if let old = session.channel(frame.topic) { close(old) }
        guard joins.count(at: now) else {
            session.send(frame.refusal("ClientJoinRateLimitReached: Too many joins per second"))
            return session.outbox.close()
        }
        guard session.channels.count < limits.channelsPerClient else {
            await session.holdUp(for: faults.refusalPause)
            return session.send(frame.refusal("ChannelRateLimitReached: Too many channels"))
        }
        let join = RealtimeJoin(frame.payload)
        let name = String(frame.topic.dropFirst(LocalChannel.prefix.count))
        let token: RealtimeToken
        let rights: RealtimeRights
        let replayed: [JSON]
        do throws(TokenProblem) {
            let own = join.token.flatMap { $0.hasPrefix("sb_") ? nil : $0 }
            token = try self.token(own ?? session.token.text)
            rights = try await self.rights(on: name, isPrivate: join.isPrivate, token.token)
            guard rights.mayJoin else {
                throw TokenProblem(
                    name: "Unauthorized", text: "You do not have permissions to read from this Channel topic: \(name)")
            }
            replayed = try await replay(join, name)
        } catch {
            await session.holdUp(for: faults.refusalPause)
            return session.send(frame.refusal("\(error.name): \(error.text)"))
        }
        faults.wake()
        let channel = LocalChannel(frame, join, on: session, token, rights)
        if let old = session.put(channel) { hub.remove(old) }
        hub.add(channel) { session.send(frame.reply("ok", ["postgres_changes": .array(join.bindings.map(\.answer))])) }
        if join.hasPresence, rights.readsPresence { channel.send("presence_state", hub.presence(at: channel.place)) }
        for message in replayed { channel.send("broadcast", message) }
        if join.awaitsDatabase { confirmDatabase(channel) }
        await subscribe(channel)
    }

    private func confirmDatabase(_ channel: LocalChannel) {
        channel.state.withLock { $0.awaitsDatabaseSince = .now }
        guard feed.isListening else { return }
        let waits = channel.state.withLock { state in
            defer { state.awaitsDatabaseSince = nil }
            return state.awaitsDatabaseSince != nil
        }
        if waits { channel.system("system", "ok", "Replication connection established") }
    }

    /// Reports whether row changes will be received.
    private func subscribe(_ channel: LocalChannel) async {
        guard !channel.join.bindings.isEmpty else { return }
        channel.state.withLock { $0.receivesChanges = false }
        var problem = channel.join.bindings.lazy.compactMap(\.problem).first
        for binding in channel.join.bindings where problem == nil {
            guard let place = binding.place else { continue }
            do throws(PostgresFailure) {
                let published = try await context.database.run([
                    PostgresStatement(
                        """
                        select 1 from pg_publication_tables
                        where pubname = 'supabase_realtime' and schemaname = $1 and tablename = $2
                        """, [place.schema, place.table], isKept: true)
                ])
                guard published[0].text != nil else {
                    problem = binding.problem("")
                    continue
                }
                guard binding.filter != nil else { continue }
                let results = try await context.database.run(
                    [PostgresStatement("select realtime.column_types($1, $2)", [place.schema, place.table])],
                    as: channel.token.token, readOnly: true)
                let types = results[0].text.flatMap { try? JSON(parsing: $0) }?.object ?? [:]
                problem = binding.problem(types: types.dictionary.compactMapValues(\.string))
            } catch {
                // Corrected once the database is available.
                channel.state.withLock { $0.receivesChanges = true }
                return channel.system("postgres_changes", "error", "Too many database timeouts")
            }
        }
        if let problem {
            // An invalid binding invalidates all of the channel's bindings.
            return channel.system("postgres_changes", "error", problem)
        }
        channel.state.withLock { $0.receivesChanges = true }
        if feed.isListening { channel.system("postgres_changes", "ok", "Subscribed to PostgreSQL") }
    }

    /// The rights under the policies; all rights on a public channel.
    func rights(
        on name: String, isPrivate: Bool, _ token: SupabaseToken
    ) async throws(TokenProblem) -> RealtimeRights {
        guard isPrivate else { return .all }
        do throws(PostgresFailure) {
            let results = try await context.database.run([
                PostgresStatement(
                    "select realtime.rights($1, $2, $3)", [name, token.role, JSON.object(token.claims).text()])
            ])
            let names = results[0].text.flatMap { try? JSON(parsing: $0) }?.array ?? []
            return RealtimeRights(Set(names.compactMap(\.string)))
        } catch {
            throw TokenProblem(
                name: "UnableToConnectToProject", text: "Realtime was unable to connect to the project database")
        }
    }

    private func replay(_ join: RealtimeJoin, _ name: String) async throws(TokenProblem) -> [JSON] {
        guard let replay = join.replay else { return [] }
        guard join.isPrivate else {
            throw TokenProblem(name: "UnableToReplayMessages", text: "Replay is not allowed for public channels")
        }
        guard let since = replay.since else {
            throw TokenProblem(name: "UnableToReplayMessages", text: "Replay params are not valid")
        }
        do throws(PostgresFailure) {
            let results = try await context.database.run([
                PostgresStatement(
                    """
                    select coalesce(json_agg(json_build_object('type', 'broadcast', 'event', event, 'payload', payload,
                      'meta', json_build_object('id', id, 'replayed', true)) order by inserted_at, id), '[]')
                    from (select * from realtime.messages where topic = $1 and private and extension = 'broadcast'
                      and event is not null and payload is not null
                      and inserted_at >= to_timestamp($2::bigint / 1000.0) at time zone 'utc'
                      order by inserted_at desc, id desc limit $3::int) newest
                    """, [name, String(since), String(replay.limit)])
            ])
            return results[0].text.flatMap { try? JSON(parsing: $0) }?.array ?? []
        } catch {
            throw TokenProblem(
                name: "UnableToConnectToProject", text: "Realtime was unable to connect to the project database")
        }
    }

    // MARK: Tokens

    private func renew(_ channel: LocalChannel, _ text: String?) async {
        guard let text, !text.hasPrefix("sb_"), text != channel.token.text else { return }
        let token: RealtimeToken
        let rights: RealtimeRights
        do throws(TokenProblem) {
            token = try self.token(text)
            rights = try await self.rights(on: channel.name, isPrivate: channel.join.isPrivate, token.token)
        } catch {
            return end(channel, error.text)
        }
        faults.wake()
        channel.state.withLock { state in
            state.token = token
            state.rights = rights
        }
        guard rights.mayJoin else {
            return end(
                channel, "You no longer have permission to read from this Channel topic: \(channel.name)")
        }
        await subscribe(channel)
    }

    // MARK: Broadcasts

    private func broadcast(_ frame: RealtimeFrame, on channel: LocalChannel) {
        // Even if it is not allowed.
        if channel.join.isPrivate { faults.wake() }
        // The client is not informed that the broadcast was not sent.
        guard channel.rights.sendsBroadcasts else { return }
        let size = frame.bytes?.count ?? (frame.payload["payload"] ?? .null).bytes().count
        guard size <= limits.broadcastSize else {
            if channel.join.acknowledges { channel.session.send(frame.reply("error", "payload_size_exceeded")) }
            return
        }
        let fanned = RealtimeFrame(
            topic: frame.topic, event: "broadcast", payload: frame.payload, bytes: frame.bytes,
            prefersBinary: frame.prefersBinary)
        hub.broadcast(fanned, to: channel.place, from: channel)
        if channel.join.acknowledges { channel.session.send(frame.reply()) }
    }

    // MARK: Presence

    private func presence(_ frame: RealtimeFrame, on channel: LocalChannel) {
        guard presences.count(at: now) else { return end(channel, "Too many presence messages per second") }
        guard channel.presenceCalls.count(at: now) else { return end(channel, "Client presence rate limit exceeded") }
        guard channel.rights.tracksPresence else { return channel.session.send(frame.reply("error")) }
        let owner = ObjectIdentifier(channel)
        switch frame.payload["event"]?.string {
        case "track":
            guard let fields = frame.payload["payload"]?.object else {
                return channel.session.send(frame.reply("error"))
            }
            let isNew = channel.state.withLock { state in
                defer { state.hasPresence = true }
                return !state.hasPresence
            }
            channel.session.send(frame.reply())
            if isNew, channel.rights.readsPresence {
                channel.send("presence_state", hub.presence(at: channel.place))
            }
            hub.changePresence(of: channel) {
                $0.track(channel.join.presenceKey, owner, fields, ref: RandomID.make(length: 16))
            }
        case "untrack":
            channel.session.send(frame.reply())
            hub.changePresence(of: channel) { $0.untrack(channel.join.presenceKey, owner) }
        default: channel.session.send(frame.reply("error"))
        }
    }
}
