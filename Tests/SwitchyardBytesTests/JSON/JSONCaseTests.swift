import Foundation
import SwitchyardBytes
import SwitchyardProviderKit
import Testing

struct JSONCaseTests {
    private static let refused = JSONCase.refusedStructure + JSONCase.refusedTokens
    private static let all = JSONCase.accepted + refused + JSONCase.either

    private func isAccepted(_ bytes: [UInt8]) -> Bool { (try? JSON(parsing: bytes)) != nil }

    @Test func `There are more than three hundred cases with names of their own`() {
        #expect(Self.all.count > 300)
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }

    @Test(arguments: JSONCase.accepted) func `What must be accepted is`(_ item: JSONCase) throws {
        let value = try JSON(parsing: item.bytes)
        #expect(try JSON(parsing: value.bytes()) == value)
    }

    @Test(arguments: refused) func `What must be refused is, at a place inside the text`(_ item: JSONCase) {
        let error = #expect(throws: JSONError.self) { try JSON(parsing: item.bytes) }
        if let error { #expect((0...item.bytes.count).contains(error.offset)) }
    }

    @Test(arguments: JSONCase.either) func `What may go either way goes as written down`(_ item: JSONCase) {
        #expect(isAccepted(item.bytes) == (item.expectation == .accepted))
    }

    @Test(arguments: all) func `A stream cut anywhere takes what the parser takes`(_ item: JSONCase) {
        // Long texts are long by repetition: a cut in every byte of them shows nothing new.
        let cuts =
            item.bytes.count < 200 ? Array(0...item.bytes.count) : [0, 1, 7, item.bytes.count / 2, item.bytes.count]
        let whole = try? JSON(parsing: item.bytes)
        for cut in cuts {
            var stream = JSONStream(.document)
            var value: JSON?
            do throws(JSONError) {
                stream.append(item.bytes[..<cut])
                value = try stream.next()
                stream.append(item.bytes[cut...])
                if let next = try stream.next() { value = next }
                stream.finish()
                if let next = try stream.next() { value = next }
            } catch {
                value = nil
            }
            #expect(value == whole, "cut at \(cut)")
        }
    }

    @Test(arguments: all) func `The decoder takes what the parser takes, and gives the same value`(_ item: JSONCase) {
        // A key repeated is the one thing that only the parser minds.
        let lenient = try? JSON(parsing: item.bytes, options: .init(duplicateKeys: .keepFirst))
        let isRepeated = lenient != nil && !isAccepted(item.bytes)
        let decoded = try? JSONBytesDecoder().decode(JSON.self, from: item.bytes)
        #expect(decoded == (isRepeated ? nil : lenient))
        #expect(((try? JSONBytesDecoder().decode(Anything.self, from: item.bytes)) != nil) == isIndexed(item))
    }

    /// Takes any value without parsing it: numbers too large for any type included.
    private struct Anything: Decodable { init(from decoder: any Decoder) {} }

    private func isIndexed(_ item: JSONCase) -> Bool {
        do throws(JSONError) {
            _ = try JSON(parsing: item.bytes)
            return true
        } catch {
            return error.reason == .duplicateKey || error.reason == .numberOutOfRange
        }
    }
}
