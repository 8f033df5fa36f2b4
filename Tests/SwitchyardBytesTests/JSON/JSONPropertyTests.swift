import Foundation
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import Testing

struct JSONPropertyTests {
    @Test(arguments: [
        JSONWritingOptions(), .init(sortsKeys: true), .init(isPretty: true), .init(sortsKeys: true, isPretty: true),
    ])
    func `Any value survives being written and parsed`(_ layout: JSONWritingOptions) throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let value = JSONSamples.value(&random)
            let back = try JSON(parsing: value.bytes(layout))
            #expect(back.bytes(.init(sortsKeys: true)) == value.bytes(.init(sortsKeys: true)))
            if !layout.sortsKeys { #expect(back == value) }
        }
    }

    @Test func `Any value survives the coders, Foundation's included`() throws {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<150 {
            let value: JSON = ["v": JSONSamples.value(&random, depth: 3)]
            let canonical = value.bytes(.init(sortsKeys: true))
            #expect(try JSONBytesEncoder().encode(value) == value.bytes())
            #expect(try JSONBytesDecoder().decode(JSON.self, from: value.bytes()) == value)
            let foreign = try JSONDecoder().decode(JSON.self, from: Data(canonical))
            #expect(foreign["v"] != nil)
        }
    }

    @Test func `Any Double comes back to the bit`() throws {
        var random = SeededGenerator(seed: 13)
        for _ in 0..<20_000 {
            let number = JSONSamples.double(&random)
            if try JSON(parsing: JSON.number(number).bytes()) != .number(number) {
                Issue.record("lost \(number.bitPattern)")
            }
        }
    }

    @Test func `Decimal literals round as the standard library does`() throws {
        var random = SeededGenerator(seed: 14)
        for _ in 0..<20_000 {
            let digits = (0..<Int.random(in: 1...25, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }
            let text =
                "\(Int.random(in: 0...9, using: &random)).\(digits.joined())e\(Int.random(in: -40...40, using: &random))"
            if try JSON(parsing: text).double != Double(text) { Issue.record("rounded \(text)") }
        }
    }

    @Test func `Any Int64 comes back exactly`() throws {
        var random = SeededGenerator(seed: 15)
        for _ in 0..<20_000 {
            let number = Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random)
            if try JSON(parsing: String(number)) != .integer(number) { Issue.record("lost \(number)") }
        }
    }

    /// Thousands of texts that are nearly JSON. What is accepted must mean the same when it is written again; everything
    /// else must be refused at a place inside the text. The stream and the decoder must agree.
    @Test func `Damaged texts are refused or understood, never worse`() {
        var random = SeededGenerator(seed: 16)
        let seeds = (JSONCase.accepted.map(\.bytes) + (0..<40).map { _ in JSONSamples.value(&random).bytes() })
            .filter { $0.count < 400 }
        var accepted = 0
        let rounds = RandomRun.rounds(30_000)
        for round in 0..<rounds {
            let text = Damage.apply(to: seeds[Int.random(in: 0..<seeds.count, using: &random)], &random)
            let outcome = Result { () throws(JSONError) in try JSON(parsing: text) }
            switch outcome {
            case .success(let value):
                accepted += 1
                if (try? JSON(parsing: value.bytes())) != value { Issue.record("changed: \(Hex.encode(text))") }
                if !UTF8Check.isValid(text) { Issue.record("not UTF-8: \(Hex.encode(text))") }
            case .failure(let error):
                if !(0...text.count).contains(error.offset) { Issue.record("beyond the text: \(Hex.encode(text))") }
            }
            guard round.isMultiple(of: 4) else { continue }
            var stream = JSONStream(.document)
            let cut = Int.random(in: 0...text.count, using: &random)
            let streamed = Result { () throws(JSONError) in
                stream.append(text[..<cut])
                let early = try stream.next()
                stream.append(text[cut...])
                stream.finish()
                // Both: what follows a value is refused only when it is read.
                let late = try stream.next()
                let rest = try stream.next()
                return early ?? late ?? rest
            }
            if (try? streamed.get()) != (try? outcome.get()) { Issue.record("streamed otherwise: \(Hex.encode(text))") }
        }
        #expect(accepted > rounds / 30 && accepted < rounds / 30 * 29)
    }
}
