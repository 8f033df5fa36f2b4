import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Broadcasts from servers, and faults other than request faults.
extension LocalRealtime {
    private func caller(_ request: ServerRequest) throws(RealtimeRefusal) -> SupabaseToken {
        let bearer = SupabaseAccess.bearer(of: request)
        guard let text = bearer ?? context.access.keyAsToken(of: request) else {
            throw RealtimeRefusal(401, "API key is missing")
        }
        if bearer != nil {
            do throws(SupabaseAccess.MissingKey) { try context.access.checkKey(of: request) } catch {
                throw RealtimeRefusal(401, error.message)
            }
        }
        do throws(TokenProblem) {
            return try token(text).token
        } catch {
            throw RealtimeRefusal(401, error.text)
        }
    }

    /// Silently skips those that may not be sent.
    func broadcastMany(_ request: ServerRequest) async -> ServerResponse {
        do throws(RealtimeRefusal) {
            let token = try caller(request)
            guard let bytes = try? await request.body.collect(upTo: limits.frameSize),
                let list = (try? JSON(parsing: bytes))?["messages"]?.array
            else { throw RealtimeRefusal(422, "messages: can't be blank") }
            guard messages.count(list.count, at: now) else {
                throw RealtimeRefusal(429, "You have exceeded your rate limit")
            }
            for message in list {
                guard message["topic"]?.string?.isEmpty == false, message["event"]?.string?.isEmpty == false,
                    let payload = message["payload"], payload.object != nil
                else { throw RealtimeRefusal(422, "topic, event and payload: can't be blank") }
                guard payload.bytes().count <= limits.broadcastSize else {
                    throw RealtimeRefusal(422, "Payload size exceeds tenant limit")
                }
            }
            for message in list {
                let key = RealtimeHub.ChannelKey(
                    name: message["topic"]?.string ?? "", isPrivate: message["private"]?.bool ?? false)
                guard try await rightsOrNone(on: key, token).sendsBroadcasts else { continue }
                broadcast(message["event"] ?? "", message["payload"], nil, to: key, prefersBinary: false)
            }
            return ServerResponse(status: 202)
        } catch {
            return error.response
        }
    }

    func broadcastOne(_ request: ServerRequest) async -> ServerResponse {
        do throws(RealtimeRefusal) {
            let token = try caller(request)
            guard let bytes = try? await request.body.collect(upTo: limits.frameSize) else {
                throw RealtimeRefusal(422, "Payload size exceeds tenant limit")
            }
            let type = (request.headers["Content-Type"] ?? "").prefix { $0 != ";" }
            let content: (json: JSON?, bytes: [UInt8]?)
            switch type {
            case "application/json":
                guard let json = try? JSON(parsing: bytes) else { throw RealtimeRefusal(422, "payload: is invalid") }
                content = (json, nil)
            case "application/octet-stream": content = (nil, bytes)
            default: throw RealtimeRefusal(415, "Unsupported media type")
            }
            guard bytes.count <= limits.broadcastSize else {
                throw RealtimeRefusal(422, "Payload size exceeds tenant limit")
            }
            guard messages.count(at: now) else { throw RealtimeRefusal(429, "You have exceeded your rate limit") }
            let key = RealtimeHub.ChannelKey(
                name: request.parameters["topic"] ?? "", isPrivate: request.query("private") == "true")
            guard try await rightsOrNone(on: key, token).sendsBroadcasts else {
                throw RealtimeRefusal(403, "You do not have permissions to write to this topic")
            }
            broadcast(
                .string(request.parameters["event"] ?? ""), content.json, content.bytes, to: key, prefersBinary: true)
            return ServerResponse(status: 202)
        } catch {
            return error.response
        }
    }

    private func rightsOrNone(
        on key: RealtimeHub.ChannelKey, _ token: SupabaseToken
    ) async throws(RealtimeRefusal) -> RealtimeRights {
        do throws(TokenProblem) {
            return try await rights(on: key.name, isPrivate: key.isPrivate, token)
        } catch {
            throw RealtimeRefusal(422, error.text)
        }
    }

    private func broadcast(
        _ event: JSON, _ payload: JSON?, _ bytes: [UInt8]?, to key: RealtimeHub.ChannelKey, prefersBinary: Bool
    ) {
        var content: JSONObject = ["type": "broadcast", "event": event]
        content["payload"] = payload
        hub.broadcast(
            RealtimeFrame(
                topic: LocalChannel.prefix + key.name, event: "broadcast", payload: .object(content), bytes: bytes,
                prefersBinary: prefersBinary), to: key)
    }

    // MARK: Faults

    /// `{"dropEvents": 3, "doubleEvents": 1, "reorderEvents": 1, "delayEvents": 5, "delay": 250, "cutSockets": true,
    /// "refuseWebSockets": true, "expireTokens": true, "fallSilent": 10, "refusalPause": 5000}`, with any of these members.
    func setFaults(_ request: ServerRequest) async -> ServerResponse {
        guard let bytes = try? await request.body.collect(upTo: 1 << 16), let json = try? JSON(parsing: bytes),
            let switches = json.object
        else { return .text("the body is not a JSON object\n", status: 400) }
        for name in ["delay", "refusalPause", "loseDatabase"] {
            guard let given = switches[name], !(0...FaultRule.longest).contains(given.int ?? -1) else { continue }
            return .text("\(name) must be a number of milliseconds from 0 to \(FaultRule.longest)\n", status: 400)
        }
        let delay = Duration.milliseconds(switches["delay"]?.int ?? 100)
        for (name, value) in switches.map({ ($0.key, $0.value) }) {
            switch (name, value.int, value.bool) {
            case ("dropEvents", let count?, _): faults.dropEvents(count)
            case ("doubleEvents", let count?, _): faults.doubleEvents(count)
            case ("reorderEvents", let count?, _): faults.reorderEvents(count)
            case ("delayEvents", let count?, _): faults.delayEvents(count, by: delay)
            case ("delay", .some, _): break
            case ("fallSilent", let count?, _): faults.fallSilent(afterEvents: count)
            case ("loseDatabase", let time?, _): faults.loseDatabase(for: .milliseconds(time))
            case ("refusalPause", let pause?, _): faults.refusalPause = .milliseconds(pause)
            case ("refuseWebSockets", _, let refuses?): faults.refusesWebSockets = refuses
            case ("cutSockets", _, true?): cutSockets()
            case ("expireTokens", _, true?): expireTokens()
            default: return .text("“\(name)” is not a fault, or does not take this value\n", status: 400)
            }
        }
        return .json(JSON.object([:]).bytes())
    }

    /// Ends all connections without a closing handshake.
    package func cutSockets() { for session in hub.sessions { hub.remove(session) } }

    /// From now on, users' tokens currently in use count as expired; the project's keys do not.
    package func expireTokens() {
        let tokens = hub.channels.map(\.token).filter { $0.token.subject != nil }
        faults.refuse(Set(tokens.map(\.text)))
        sweep()
    }
}
