import SwitchyardBytes

/// Channels, their tokens, and the messages sent on them.
extension RealtimeMachine {
    mutating func join(_ topic: String, _ configuration: RealtimeConfiguration) {
        guard channels[topic] == nil else { return }
        channels[topic] = Channel(configuration: configuration)
        order.append(topic)
        actions.append(.cancel(.unused))
        switch phase {
        case .idle: connect(polls: false)
        case .open: joinNext()
        case .connecting, .pausing, .closed: break
        }
    }

    mutating func leave(_ topic: String) {
        guard let channel = channels[topic] else { return }
        sendLeave(channel, topic)
        end(topic, RealtimeFailure(.closed))
        joinNext()
    }

    mutating func sendLeave(_ channel: Channel, _ topic: String) {
        guard phase == .open, channel.isOnServer else { return }
        actions.append(
            .send(RealtimeMessage(joinRef: channel.joinRef, ref: nextRef(), topic: topic, event: "phx_leave")))
    }

    mutating func end(_ topic: String, _ failure: RealtimeFailure) {
        guard let channel = channels.removeValue(forKey: topic) else { return }
        order.removeAll { $0 == topic }
        failPushes(of: topic, RealtimeFailure(.closed))
        actions += [
            .cancel(.join(topic)), .cancel(.rejoin(topic)), .cancel(.confirmation(topic)), .end(topic, failure),
        ]
        if channel.configuration.replays { actions.append(.cancel(.refresh(topic))) }
        if channels.isEmpty { actions.append(.schedule(.unused, after: heartbeat * 2)) }
    }

    mutating func joinNext() {
        guard phase == .open else { return }
        let joining = channels.filter { $0.value.phase == .joining }
        var room = Self.joinsAtOnce - joining.count
        // Channels that carry messages come first, and nothing that may be refused goes out beside them.
        let carrying = order.filter { channels[$0]?.configuration.replays == true }
        for topic in carrying where room > 0 && refusals[topic] == nil && channels[topic]?.phase == .waiting {
            sendJoin(topic)
            room -= 1
        }
        guard !carrying.contains(where: { refusals[$0] == nil && channels[$0]?.phase == .joining }) else { return }
        // While messages are carried, few of the others may be under way that the server has not admitted before.
        var unproven = carrying.isEmpty ? Int.max : Self.unprovenJoinsAtOnce
        unproven -= joining.values.count { $0.joinedAt == nil }
        for topic in order where room > 0 && refusals[topic] == nil && channels[topic]?.phase == .waiting {
            if channels[topic]?.joinedAt == nil {
                guard unproven > 0 else { continue }
                unproven -= 1
            }
            sendJoin(topic)
            room -= 1
        }
        // Each refusal blocks the whole socket for some seconds, so topics refused before are joined last and one at a time.
        guard room > 0, !joining.keys.contains(where: { refusals[$0] != nil }),
            let topic = order.first(where: { refusals[$0] != nil && channels[$0]?.phase == .waiting })
        else { return }
        sendJoin(topic)
    }

    private mutating func sendJoin(_ topic: String) {
        guard var channel = channels[topic] else { return }
        let ref = nextRef()
        channel.phase = .joining
        channel.joinRef = ref
        channel.token = token
        let payload = channel.configuration.payload(token: token, replayingSince: replayStart(of: &channel))
        channels[topic] = channel
        actions.append(
            .send(RealtimeMessage(joinRef: ref, ref: ref, topic: topic, event: "phx_join", payload: payload)))
        actions.append(.schedule(.join(topic), after: Self.joinDeadline))
    }

    /// The start of a replay. It never precedes the start of the first one, so everything new in the answer is newer than the
    /// first answer.
    private func replayStart(of channel: inout Channel) -> Int64? {
        guard channel.configuration.replays, !channel.isWithoutReplay else { return nil }
        let start = max(channel.replayStart ?? .min, (channel.joinedAt ?? now()) - Self.replayMargin)
        channel.replayStart = start
        return start
    }

    /// Joins a joined channel again, because the server's confirmations may no longer hold. The server ends the channel's
    /// earlier join by itself.
    mutating func rejoin(_ topic: String) {
        guard phase == .open, channels[topic]?.isJoined == true else { return }
        lose(topic)
    }

    mutating func rejoinAll() {
        for topic in order { rejoin(topic) }
        joinNext()
    }

    /// A refusal has delayed the answers for all other channels.
    mutating func extendDeadlines() {
        for topic in order where channels[topic]?.phase == .joining {
            actions.append(.schedule(.join(topic), after: Self.joinDeadline))
        }
        for ref in pushes.keys.sorted() { actions.append(.schedule(.push(ref), after: Self.pushDeadline)) }
    }

    /// Sends a message on one channel that listens to the database, whether or not that is allowed. A service that has lost its
    /// database goes silent but still answers heartbeats; the message wakes it up.
    mutating func probe() {
        guard
            let topic = order.first(where: { topic in
                channels[topic].map { $0.isJoined && $0.configuration.awaitsDatabase } ?? false
            }), let channel = channels[topic]
        else { return }
        actions.append(
            .send(
                RealtimeMessage(
                    joinRef: channel.joinRef, ref: nextRef(), topic: topic, event: "broadcast",
                    payload: ["type": "broadcast", "event": .string(RealtimeBroadcast.probe), "payload": [:]])))
    }

    /// Handles a channel that the server has refused or lost.
    mutating func troubled(_ topic: String, _ reason: String) {
        guard var channel = channels[topic] else { return }
        failPushes(of: topic, RealtimeFailure(.unavailable))
        if channel.isJoined { actions += [.cancel(.confirmation(topic)), .deliver(topic, .interrupted)] }
        actions.append(.cancel(.join(topic)))
        channel.failures += 1
        switch RealtimeRemedy(reason) {
        case .never(.unauthorized) where channel.token != token:
            // The refusal concerned the previous token.
            channel.phase = .waiting
            channels[topic] = channel
            return joinNext()
        case .never(let kind): return end(topic, RealtimeFailure(kind, reason))
        case .withoutReplay where !channel.isWithoutReplay:
            channel.isWithoutReplay = true
            channel.phase = .waiting
            channels[topic] = channel
            return joinNext()
        case .newToken:
            guard !channel.hasTriedNewToken else { return end(topic, RealtimeFailure(.unauthenticated, reason)) }
            channel.hasTriedNewToken = true
            channel.phase = .awaitingToken
            channels[topic] = channel
            return fetchToken(isRefused: true)
        case .later, .withoutReplay:
            channel.phase = .pausing
            let pause = pause(.seconds(1), channel.failures, atMost: .seconds(30))
            actions.append(.schedule(.rejoin(topic), after: pause))
        case .muchLater:
            channel.phase = .pausing
            let pause = pause(.seconds(20), channel.failures, atMost: .seconds(300))
            actions.append(.schedule(.rejoin(topic), after: pause))
        }
        channels[topic] = channel
    }

    // MARK: Tokens

    mutating func fetchToken(isRefused: Bool) {
        guard fetchIsForRefusal == nil else { return }
        fetchIsForRefusal = isRefused
        actions.append(.fetchToken(isRefused: isRefused))
    }

    mutating func take(token new: String?, _ isAnswer: Bool) {
        let isForRefusal = isAnswer && fetchIsForRefusal == true
        if isAnswer { fetchIsForRefusal = nil }
        token = new
        for topic in order {
            guard let channel = channels[topic] else { continue }
            switch channel.phase {
            case .joined: if channel.token != new { renewToken(of: topic) }
            case .awaitingToken where channel.token == new:
                // A token requested before the refusal may be the same; one requested because of it must differ.
                if isForRefusal {
                    end(topic, RealtimeFailure(.unauthenticated, "the token was refused"))
                } else {
                    fetchToken(isRefused: true)
                }
            case .awaitingToken: channels[topic]?.phase = .waiting
            case .waiting, .joining, .pausing: break
            }
        }
        joinNext()
    }

    mutating func renewToken(of topic: String) {
        guard phase == .open, let channel = channels[topic] else { return }
        channels[topic]?.token = token
        if let token {
            actions.append(
                .send(
                    RealtimeMessage(
                        joinRef: channel.joinRef, ref: nextRef(), topic: topic, event: "access_token",
                        payload: ["access_token": .string(token)])))
        } else {
            // A channel cannot drop its token, so leave it.
            sendLeave(channel, topic)
            lose(topic)
            joinNext()
        }
    }

    mutating func tokenDelayed(_ isAnswer: Bool) {
        if isAnswer { fetchIsForRefusal = nil }
        // A new connection requests its token separately.
        if phase == .connecting, !isAnswer { return broken(.seconds(0.5)) }
        for topic in order where channels[topic]?.phase == .awaitingToken {
            channels[topic]?.phase = .pausing
            channels[topic]?.hasTriedNewToken = false
            actions.append(.schedule(.rejoin(topic), after: pause(.seconds(5), 1, atMost: .seconds(5))))
        }
    }

    mutating func tokenDenied(_ failure: RealtimeFailure, _ isAnswer: Bool) {
        if isAnswer { fetchIsForRefusal = nil }
        for topic in order {
            if let channel = channels[topic] { sendLeave(channel, topic) }
            end(topic, failure)
        }
        if phase == .connecting { phase = .idle }
    }

    // MARK: Sending

    mutating func push(_ push: Push) {
        guard phase == .open, let channel = channels[push.topic], channel.isJoined else {
            let kind: RealtimeFailure.Kind = channels[push.topic] == nil ? .closed : .unavailable
            actions.append(.answer(push.id, .failure(RealtimeFailure(kind))))
            return
        }
        let ref = nextRef()
        let message = RealtimeMessage(
            joinRef: channel.joinRef, ref: ref, topic: push.topic, event: push.event, payload: push.payload,
            bytes: push.bytes)
        if push.bytes != nil, polls || (try? message.frame()) == nil {
            actions.append(.answer(push.id, .failure(RealtimeFailure(.refused, "bytes cannot be sent this way"))))
            return
        }
        actions.append(.send(message))
        guard channel.configuration.acknowledges else {
            actions.append(.answer(push.id, .success(.null)))
            return
        }
        pushes[ref] = push
        actions.append(.schedule(.push(ref), after: Self.pushDeadline))
    }

    mutating func failPushes(of topic: String, _ failure: RealtimeFailure) {
        for (ref, push) in pushes where push.topic == topic {
            pushes[ref] = nil
            actions += [.cancel(.push(ref)), .answer(push.id, .failure(failure))]
        }
    }

    mutating func nextRef() -> String {
        lastRef += 1
        return "\(lastRef)"
    }
}

extension RealtimeMachine {
    struct Channel {
        enum Phase: Equatable {
            /// Waits for the socket, or for its turn.
            case waiting
            case joining
            case joined(isConfirmed: Bool)
            /// Waits before the next attempt.
            case pausing
            case awaitingToken
        }

        let configuration: RealtimeConfiguration
        var phase = Phase.waiting
        var joinRef: String?
        /// The token that the server has for it.
        var token: String?
        var awaited: Set<RealtimeConfirmation> = []
        /// The number of consecutive failures.
        var failures = 0
        var hasTriedNewToken = false
        /// Whether a heartbeat was answered since the join.
        var hasBeaten = false
        /// By this device's clock, like the next one.
        var joinedAt: Int64?
        var replayStart: Int64?
        /// Whether the server has refused a replay.
        var isWithoutReplay = false

        var isJoined: Bool { if case .joined = phase { true } else { false } }
        var isOnServer: Bool { isJoined || phase == .joining }

        init(configuration: RealtimeConfiguration) { self.configuration = configuration }

        /// Whether a reply belongs to a message sent since the current join. The server's replies about unknown channels do not
        /// name the join, but numbers only increase.
        func hasSent(_ ref: String, _ joinRef: String?) -> Bool {
            if let joinRef { return joinRef == self.joinRef }
            guard let number = Int(ref), let first = self.joinRef.flatMap({ Int($0) }) else { return false }
            return number > first
        }
    }
}
