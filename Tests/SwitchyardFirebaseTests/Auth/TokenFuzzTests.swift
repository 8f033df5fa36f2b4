import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase
@testable import SwitchyardProviderHTTP

/// Tokens and published keys that were damaged on their way, or made up.
@Suite struct TokenFuzzTests {
    private static let time: Int64 = 1_700_000_100

    /// Publishes what it is told to, and asks for it again on a clock that is moved on by hand.
    private final class Bed: Sendable {
        private let published = PublishedText()
        let clock = ManualClock()
        let verifier: FirebaseTokenVerifier

        init() throws {
            let published = published
            let transport = AnsweringTransport { _ throws(TransportError) in
                HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: published.bytes)
            }
            let module = FirebaseModule(FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]) {
                transport
            }
            verifier = FirebaseTokenVerifier(
                try module.clientContext(
                    ModuleContext(
                        auth: nil, clock: clock, now: { Timestamp(clampingSeconds: time, nanoseconds: 0) })))
        }

        /// What is published from now on, and fetched with the next token: the old keys are too old even for a bad day.
        func publish(_ bytes: [UInt8]) {
            published.bytes = bytes
            clock.advance(by: .seconds(2 * 86_400))
        }

        func check(_ token: String) async -> Result<VerifiedToken, TokenError> {
            do throws(TokenError) { return .success(try await verifier.verify(Secret(token))) } catch {
                return .failure(error)
            }
        }
    }

    private final class PublishedText: Sendable {
        private let content = Mutex<[UInt8]>([])
        var bytes: [UInt8] {
            get { content.withLock { $0 } }
            set { content.withLock { $0 = newValue } }
        }
    }

    private static func keySet(_ keys: [JSON]) -> [UInt8] { JSON.object(["keys": .array(keys)]).bytes() }
    private static let goodKeys = keySet([TestKeys.another.publicKey.json, TestKeys.one.publicKey.json])

    private static func token(by key: RSAPrivateKey = TestKeys.one, named name: String? = nil) -> String {
        let claims: JSONObject = [
            "iss": "https://securetoken.google.com/demo", "aud": "demo", "sub": "ada", "iat": .integer(time - 100),
            "auth_time": .integer(time - 900), "exp": .integer(time + 3500), "email": "ada@example.com",
            "firebase": ["sign_in_provider": "password", "identities": [:]], "deep": [[["list"]], 1.5, true, .null],
        ]
        let head: JSONObject = ["alg": "RS256", "kid": .string(name ?? key.publicKey.id), "typ": "JWT"]
        let signed = [head, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }
            .joined(separator: ".")
        return signed + "." + Base64.encode(key.signature(of: signed), alphabet: .url)
    }

    /// The parts as their issuer wrote them, damaged before they were put together: what is behind the outermost door.
    private static func damagedInside(_ token: String, _ random: inout SeededGenerator) -> String {
        var parts = token.split(separator: ".").map(String.init)
        let index = random.int(0..<3)
        let bytes = Base64.decode(parts[index], alphabet: .url) ?? []
        parts[index] = Base64.encode(Damage.apply(to: bytes, &random), alphabet: .url)
        return parts.joined(separator: ".")
    }

    @Test func `Damaged texts of tokens are refused, and nothing of them is repeated`() async throws {
        let bed = try Bed()
        bed.publish(Self.goodKeys)
        let good = Self.token()
        #expect(try await bed.check(good).get().userID == "ada")
        var (random, codes) = (SeededGenerator(seed: 41), Set<ErrorCode>())
        for round in 0..<RandomRun.rounds(3000) {
            let token =
                round.isMultiple(of: 2)
                ? Self.damagedInside(good, &random)
                : String(decoding: Damage.apply(to: Array(good.utf8), &random), as: UTF8.self)
            switch await bed.check(token) {
            case .success(let verified):
                // Damage may undo itself.
                if token != good { Issue.record("taken: \(token)") }
                if verified.userID != "ada" { Issue.record("somebody else's: \(token)") }
            case .failure(let error):
                codes.insert(error.code)
                let text = error.description
                if text.contains("ada") || text.contains(token.prefix(12)) {
                    Issue.record("leaked: \(text) of \(token)")
                }
            }
        }
        #expect(codes.isSuperset(of: [.malformedToken, .invalidSignature, .wrongProject]), "\(codes)")
        #expect(try await bed.check(good).get().userID == "ada")
    }

    @Test func `Pure noise is no token`() async throws {
        let bed = try Bed()
        bed.publish(Self.goodKeys)
        var random = SeededGenerator(seed: 42)
        for _ in 0..<RandomRun.rounds(2000) {
            let parts = (0..<random.int(0..<5)).map { _ in
                let bytes = (0..<random.int(0..<60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                return random.chance(60)
                    ? Base64.encode(bytes, alphabet: .url) : String(decoding: bytes, as: UTF8.self)
            }
            let token = parts.joined(separator: ".")
            guard case .failure(let error) = await bed.check(token) else {
                Issue.record("taken: \(token)")
                continue
            }
            if error.code != .malformedToken, error.code != .wrongProject { Issue.record("\(error) for \(token)") }
        }
    }

    /// Values that somebody who writes key sets may get wrong.
    private static func strange(_ random: inout SeededGenerator) -> JSON {
        random.pick([
            .null, true, 0, -1, 1e300, "", "AA", "AQAB", "RSA", "EC", "oct", "k", [], ["AQAB"], [:],
            .string(String(repeating: "A", count: random.int(0..<3000))),
        ])
    }

    private static func damagedSet(_ random: inout SeededGenerator) -> [UInt8] {
        if random.chance(50) { return Damage.apply(to: goodKeys, &random) }
        var keys = [TestKeys.another.publicKey.json, TestKeys.one.publicKey.json]
        for _ in 0..<random.int(1..<4) {
            let index = random.int(0..<keys.count)
            if var entry = keys[index].object, random.chance(80) {
                entry[random.pick(["n", "e", "kid", "kty", "alg", "use", "x", "crv"])] = strange(&random)
                if random.chance(30) { keys.append(.object(entry)) } else { keys[index] = .object(entry) }
            } else {
                keys[index] = strange(&random)
            }
        }
        return keySet(keys)
    }

    @Test func `Damaged texts of key sets sign for no one, and the next good one is taken`() async throws {
        let bed = try Bed()
        let good = Self.token()
        // By a key that is published as well, but never under this name.
        let forged = Self.token(by: TestKeys.another, named: TestKeys.one.publicKey.id)
        var (random, codes, taken) = (SeededGenerator(seed: 43), Set<ErrorCode>(), 0)
        for _ in 0..<RandomRun.rounds(400) {
            let set = Self.damagedSet(&random)
            bed.publish(set)
            switch await bed.check(good) {
            case .success: taken += 1
            case .failure(let error):
                codes.insert(error.code)
                let isKnown = [.invalidSignature, .unavailable].contains(error.code)
                if !isKnown { Issue.record("\(error) for \(String(decoding: set, as: UTF8.self))") }
            }
            if case .success = await bed.check(forged) {
                Issue.record("forged with \(String(decoding: set, as: UTF8.self))")
            }
        }
        #expect(codes == [.invalidSignature, .unavailable] && taken > 0)
        bed.publish(Self.goodKeys)
        #expect(try await bed.check(good).get().userID == "ada")
    }

    @Test func `A key that cannot be read takes no other away, whatever its name`() async throws {
        let (bed, one) = (try Bed(), TestKeys.one.publicKey.json)
        for strange: JSON in [["kty": "oct"], ["kty": "RSA"], ["kty": "RSA", "n": "AQAB", "e": "AQAB"], "text", .null] {
            var namesake = strange
            if var entry = strange.object {
                entry["kid"] = one["kid"]
                namesake = .object(entry)
            }
            for keys in [[one, namesake], [namesake, one]] {
                bed.publish(Self.keySet(keys))
                #expect(try await bed.check(Self.token()).get().userID == "ada", "\(strange)")
            }
        }
    }

    @Test func `Damaged texts of certificates are no keys, or are ones that have signed nothing`() async throws {
        let lines = FirebaseTokenVerifierTests.certificate.split(separator: "\n").map(String.init)
        let der = try #require(Base64.decode(lines.dropFirst().dropLast().joined()))
        let message = Array("message".utf8)
        var (random, keys) = (SeededGenerator(seed: 44), 0)
        for _ in 0..<RandomRun.rounds(2000) {
            let damaged = Damage.apply(to: der, structural: [0, 1, 2, 3, 0x30, 0x7F, 0x80, 0x81, 0x84, 0xFF], &random)
            let key = TokenKey(
                certificate: "-----BEGIN CERTIFICATE-----\n\(Base64.encode(damaged))\n-----END CERTIFICATE-----")
            guard let key else { continue }
            keys += 1
            let signature = (0..<256).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if key.verifies(signature, of: message) || key.verifies([], of: message) {
                Issue.record("signed: \(Hex.encode(damaged))")
            }
        }
        #expect(keys > 0)
        for _ in 0..<RandomRun.rounds(5000) {
            let noise = (0..<random.int(0..<40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            guard let elements = DER.elements(noise[...]) else { continue }
            if elements.flatMap({ Array($0.whole) }) != noise { Issue.record("lost: \(Hex.encode(noise))") }
        }
    }
}
