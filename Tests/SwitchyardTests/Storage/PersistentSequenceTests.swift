import Switchyard
import SwitchyardTestSupport
import Testing

@Suite struct PersistentSequenceTests {
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `Random edits do what they do to an array, and the tree stays balanced`(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        // Empty, less than a run, some runs, and many.
        var model = Array(0..<[0, 20, 300, 2_000, 10_000][Int(seed) - 1])
        var sequence = PersistentSequence(inOrder: model)
        for step in 0..<800 {
            let isGrowing = (step / 160).isMultiple(of: 2)
            switch random.int(0..<10) {
            case 0..<(isGrowing ? 7 : 3):
                let position = random.chance(30) ? model.count : random.int(0..<(model.count + 1))
                model.insert(step, at: position)
                sequence.insert(step, at: position)
            case 9 where !model.isEmpty:
                let position = random.int(0..<model.count)
                model[position] = -step
                sequence.replace(at: position, with: -step)
            default:
                guard !model.isEmpty else { continue }
                let position = random.chance(30) ? 0 : random.int(0..<model.count)
                model.remove(at: position)
                sequence.remove(at: position)
            }
            #expect(sequence.count == model.count)
            if step.isMultiple(of: 20) {
                await Task.yield()  // the pool is small, and others wait with deadlines
                #expect(sequence.isBalanced)
                #expect(Array(sequence) == model)
                #expect(model.indices.allSatisfy { sequence[$0] == model[$0] })
                var visited: [Int] = []
                sequence.forEach { visited.append($0) }
                #expect(visited == model)
                let bounds = [random.int(0..<(model.count + 1)), random.int(0..<(model.count + 1))].sorted()
                let slice = sequence.slice(bounds[0]..<bounds[1])
                #expect(Array(slice) == Array(model[bounds[0]..<bounds[1]]))
                #expect(slice.isBalanced)
                #expect(
                    slice.first == model[bounds[0]..<bounds[1]].first && slice.last == model[bounds[0]..<bounds[1]].last
                )
            }
        }
    }

    @Test(arguments: [0, 1, 32, 33, 1_000])
    func `A sequence that was not split reads and edits like any other`(count: Int) {
        let model = Array(0..<count)
        let sequence = PersistentSequence(unsplit: model)
        #expect(Array(sequence) == model && sequence.isBalanced)
        #expect(model.indices.allSatisfy { sequence[$0] == $0 })
        #expect(model.indices.allSatisfy { sought in sequence.position { Ordering($0, sought) } == (sought, true) })
        #expect(Array(sequence.slice(count / 3..<count / 2)) == Array(model[count / 3..<count / 2]))
        var longer = sequence
        longer.insert(-1, at: count / 2)
        #expect(Array(longer) == model[..<(count / 2)] + [-1] + model[(count / 2)...] && longer.isBalanced)
        guard count > 0 else { return }
        var shorter = sequence
        shorter.remove(at: count - 1)
        #expect(Array(shorter) == model.dropLast() && shorter.isBalanced)
        var other = sequence
        #expect(other.replace(with: -1) { Ordering($0, count / 2) } == count / 2)
        other.replace(at: 0, with: -2)
        #expect(other[0] == -2 && other.isBalanced)
        #expect(Array(sequence) == model)
    }

    @Test func `A tree stays balanced while it shrinks to nothing from either end or in the middle`() {
        for end in 0..<3 {
            var sequence = PersistentSequence(inOrder: Array(0..<2_000))
            for count in stride(from: 2_000, to: 0, by: -1) {
                sequence.remove(at: [0, count - 1, count / 2][end])
                if count.isMultiple(of: 50) { #expect(sequence.isBalanced && sequence.count == count - 1) }
            }
            #expect(sequence.isEmpty)
        }
    }

    @Test func `An edit leaves earlier copies as they were`() {
        let before = PersistentSequence(inOrder: Array(0..<100))
        var after = before
        after.remove(at: 50)
        after.insert(-1, at: 0)
        #expect(Array(before) == Array(0..<100))
        #expect(after.count == 100 && after[0] == -1)
        #expect(!before.isIdentical(to: after))
    }

    @Test func `A place is found by order, for what is there and for what is not`() {
        let sequence = PersistentSequence(inOrder: Array(stride(from: 0, to: 200, by: 2)))
        for sought in -1...201 {
            let (index, isFound) = sequence.position { Ordering($0, sought) }
            #expect(isFound == (sought.isMultiple(of: 2) && (0..<200).contains(sought)))
            #expect(index == min(max(0, (sought + 1) / 2), 100))
        }
    }

    @Test func `What is there is replaced in its place, and what is not changes nothing`() {
        let sequence = PersistentSequence(inOrder: Array(stride(from: 0, to: 200, by: 2)))
        for sought in -1...201 {
            var edited = sequence
            let index = edited.replace(with: 1_000 + sought) { Ordering($0, sought) }
            let isThere = sought.isMultiple(of: 2) && (0..<200).contains(sought)
            #expect(index == (isThere ? sought / 2 : nil))
            #expect(Array(edited) == Array(sequence).map { isThere && $0 == sought ? 1_000 + sought : $0 })
            #expect(edited.isIdentical(to: sequence) != isThere)
            #expect(edited.isBalanced)
        }
    }
}
