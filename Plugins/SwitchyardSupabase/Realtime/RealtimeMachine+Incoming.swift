import SwitchyardBytes

/// Messages from the server.
extension RealtimeMachine {
    mutating func received(_ message: RealtimeMessage) {
        guard phase == .open else { return }
        if message.event == "phx_reply" { return replied(message) }
        guard let channel = channels[message.topic] else { return }
        if let joinRef = message.joinRef, joinRef != channel.joinRef { return }
        let topic = message.topic
        switch message.event {
        case "system": system(topic, message.payload)
        case "phx_error": if channel.isOnServer { troubled(topic, "phx_error") }
        case "phx_close":
            // Without a reference, and while the channel is being joined, it concerns an earlier join.
            if message.joinRef != nil && channel.isOnServer || channel.isJoined { troubled(topic, "phx_close") }
        default:
            guard channel.isJoined, let event = RealtimeEvent(message) else { return }
            guard case .broadcast(let broadcast) = event else { return actions.append(.deliver(topic, event)) }
            if broadcast.isProbe { return }
            actions.append(.deliver(topic, event))
            // Older servers never confirm the connection to the database; a message from it does.
            if !broadcast.isReplayed { confirm(.broadcasts, of: topic) }
        }
    }

    /// Records a confirmation that the channel waits for.
    private mutating func confirm(_ confirmation: RealtimeConfirmation, of topic: String) {
        guard channels[topic]?.awaited.remove(confirmation) != nil, channels[topic]?.awaited.isEmpty == true else {
            return
        }
        channels[topic]?.phase = .joined(isConfirmed: true)
        actions += [.cancel(.confirmation(topic)), .deliver(topic, .confirmed)]
    }

    mutating func replied(_ message: RealtimeMessage) {
        guard let ref = message.ref else { return }
        if ref == heartbeatRef {
            heartbeatRef = nil
            lateBeats = 0
            return settle()
        }
        let isOK = message.payload["status"]?.string == "ok"
        let response = message.payload["response"] ?? [:]
        let reason = response["reason"]?.string ?? response.string ?? ""
        if let push = pushes.removeValue(forKey: ref) {
            actions.append(.cancel(.push(ref)))
            let result: Result<JSON, RealtimeFailure> =
                if isOK { .success(response) } else {
                    .failure(RealtimeFailure(reason == "payload_size_exceeded" ? .tooLarge : .unavailable, reason))
                }
            actions.append(.answer(push.id, result))
            if reason == "unmatched topic" { troubled(push.topic, reason) }
            return
        }
        guard let channel = channels[message.topic] else { return }
        if reason == "unmatched topic", channel.isJoined, channel.hasSent(ref, message.joinRef) {
            // Usually the reply to a token. A channel that only listens learns of its loss no other way.
            return troubled(message.topic, reason)
        }
        guard channel.joinRef == ref, channel.phase == .joining else { return }
        actions.append(.cancel(.join(message.topic)))
        if isOK {
            joined(message.topic, response)
        } else {
            if refusals.count == Self.refusalsAtMost { refusals = [:] }
            refusals[message.topic, default: 0] += 1
            troubled(message.topic, reason)
            extendDeadlines()
        }
        joinNext()
    }

    mutating func joined(_ topic: String, _ response: JSON) {
        guard var channel = channels[topic] else { return }
        guard channel.configuration.matches(response) else {
            sendLeave(channel, topic)
            return end(topic, RealtimeFailure(.refused, "the server answered other bindings"))
        }
        failures = 0
        refusals[topic] = nil
        channel.hasBeaten = false
        channel.joinedAt = now()
        channel.awaited = channel.configuration.confirmations
        channel.phase = .joined(isConfirmed: channel.awaited.isEmpty)
        channels[topic] = channel
        actions.append(.deliver(topic, .joined))
        if channel.configuration.replays { actions.append(.schedule(.refresh(topic), after: Self.refreshPeriod)) }
        if channel.awaited.isEmpty {
            actions.append(.deliver(topic, .confirmed))
        } else {
            actions.append(.schedule(.confirmation(topic), after: Self.confirmationDeadline))
        }
        if channel.token != token { renewToken(of: topic) }
    }

    mutating func system(_ topic: String, _ payload: JSON) {
        let message = payload["message"]?.string ?? ""
        if message == "Server requested disconnect" {
            actions.append(.disconnect)
            return broken(.seconds(2))
        }
        guard var channel = channels[topic], channel.isJoined else { return }
        let isAboutChanges = payload["extension"]?.string == "postgres_changes"
        guard payload["status"]?.string == "ok" else {
            guard isAboutChanges else { return troubled(topic, message) }
            if case .never(let kind) = RealtimeRemedy(message) {
                sendLeave(channel, topic)
                return end(topic, RealtimeFailure(kind, message))
            }
            // The server retries by itself.
            channel.awaited.insert(.changes)
            if channel.phase == .joined(isConfirmed: true) { actions.append(.deliver(topic, .unconfirmed)) }
            channel.phase = .joined(isConfirmed: false)
            channels[topic] = channel
            return
        }
        if isAboutChanges {
            channel.awaited.remove(.changes)
        } else if message == "Replication connection established" {
            channel.awaited.remove(.broadcasts)
        } else {
            return
        }
        defer { channels[topic] = channel }
        guard channel.awaited.isEmpty else { return }
        channel.phase = .joined(isConfirmed: true)
        actions += [.cancel(.confirmation(topic)), .deliver(topic, .confirmed)]
    }
}
