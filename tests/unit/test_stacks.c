/* SPDX-License-Identifier: MIT */
#include "analysis/stacks.h"

#include "counting.h"

static struct pf_stack_frames stack_of(const uint32_t *bottom, const uint32_t *leaf_first, size_t count,
                                       uint64_t weight)
{
    return (struct pf_stack_frames){.bottom = bottom,
                                    .bottom_count = 1,
                                    .frames = leaf_first,
                                    .frame_count = count,
                                    .leaf = PF_STACK_NO_LEAF,
                                    .weight = weight};
}

static void a_stack_is_in_the_tree_when_the_next_one_comes(void **state)
{
    (void)state;
    struct counting c;
    struct pf_tree tree;
    struct pf_stacks stacks = {0};
    const uint32_t bottom = 7, leaf_first[] = {3, 2, 1};
    struct pf_stack_frames stack = stack_of(&bottom, leaf_first, 3, 10);
    counting_open(&c, -1);
    assert_int_equal(pf_tree_open(&tree, &c.allocator), 0);
    stack.note = PF_TREE_NOTE;
    assert_true(pf_stacks_add(&stacks, &tree, &stack));
    assert_int_equal(stacks.entered, 0);
    stack.leaf = 9; /* lies apart from the callchain */
    stack.note = 1;
    stack.weight = 5;
    assert_true(pf_stacks_add(&stacks, &tree, &stack));
    const uint32_t first = stacks.entered;
    assert_true(pf_stacks_end(&stacks, &tree));
    const uint32_t second = stacks.entered;
    assert_int_equal(tree.count, 6); /* root, 7, 1, 2, 3, 9 */
    assert_int_equal(tree.nodes[first].frame, 3);
    assert_int_equal(tree.nodes[first].self, 10);
    assert_int_equal(tree.nodes[first].note, PF_TREE_NOTE);
    assert_int_equal(tree.nodes[second].frame, 9);
    assert_int_equal(tree.nodes[second].parent, first);
    assert_int_equal(tree.nodes[second].self, 5);
    assert_int_equal(tree.nodes[second].samples, 1);
    assert_int_equal(tree.nodes[second].note, 1);
    assert_true(pf_stacks_end(&stacks, &tree)); /* again changes nothing */
    assert_int_equal(tree.nodes[second].samples, 1);
    pf_tree_close(&tree);
    counting_close(&c);
}

/* The i-th of many stacks, some with long common parts, some with none. */
static size_t made_stack(uint32_t i, uint32_t frames[40])
{
    const size_t count = i * 7919 % 40;
    for (size_t depth = 0; depth < count; depth++) /* leaf first */
        frames[count - 1 - depth] = depth < 3 ? i % 5 : (i >> (depth % 7)) % 11;
    return count;
}

/* The tree is the one that is made by walking from the root. */
static void many_stacks_make_the_same_tree(void **state)
{
    enum { STACKS = 20000 };
    (void)state;
    struct pf_tree tree, expected;
    struct pf_stacks stacks = {0};
    uint32_t frames[40], node_of[STACKS] = {0};
    assert_int_equal(pf_tree_open(&tree, pf_allocator_or_default(NULL)), 0);
    assert_int_equal(pf_tree_open(&expected, pf_allocator_or_default(NULL)), 0);
    for (uint32_t i = 0; i < STACKS; i++) {
        const uint32_t bottom = i % 3;
        struct pf_stack_frames stack = stack_of(&bottom, frames, made_stack(i, frames), i);
        stack.owner = i / 3 % 700; /* more than there are paths for */
        assert_true(pf_stacks_add(&stacks, &tree, &stack));
        if (i)
            node_of[i - 1] = stacks.entered;
        uint32_t node = pf_tree_child(&expected, 0, bottom);
        for (size_t f = stack.frame_count; f-- > 0;)
            node = pf_tree_child(&expected, node, frames[f]);
        pf_tree_add(&expected, node, i);
    }
    assert_true(pf_stacks_end(&stacks, &tree));
    node_of[STACKS - 1] = stacks.entered;
    assert_int_equal(tree.count, expected.count);
    assert_true(tree.count > 4096); /* the table grew */
    for (size_t node = 0; node < tree.count; node++) {
        assert_int_equal(tree.nodes[node].parent, expected.nodes[node].parent);
        assert_int_equal(tree.nodes[node].frame, expected.nodes[node].frame);
        assert_int_equal(tree.nodes[node].self, expected.nodes[node].self);
        assert_int_equal(tree.nodes[node].samples, expected.nodes[node].samples);
    }
    for (uint32_t i = 0; i < STACKS; i++) {
        const size_t count = made_stack(i, frames);
        uint32_t node = node_of[i];
        for (size_t f = 0; f < count; f++, node = tree.nodes[node].parent)
            assert_int_equal(tree.nodes[node].frame, frames[f]);
        assert_int_equal(tree.nodes[node].frame, i % 3);
    }
    pf_tree_close(&tree);
    pf_tree_close(&expected);
}

/* Its table has been put into larger ones. */
static void a_large_table_finds_all_nodes(void **state)
{
    enum { STACKS = 1200000 };
    (void)state;
    struct pf_tree tree;
    struct pf_stacks stacks = {0};
    assert_int_equal(pf_tree_open(&tree, pf_allocator_or_default(NULL)), 0);
    for (uint32_t i = 0; i < 2 * STACKS; i++) {
        const uint32_t bottom = i % STACKS;
        struct pf_stack_frames stack = stack_of(&bottom, NULL, 0, 1);
        assert_true(pf_stacks_add(&stacks, &tree, &stack));
        if (i && stacks.entered != (i - 1) % STACKS + 1)
            assert_int_equal(stacks.entered, (i - 1) % STACKS + 1);
    }
    assert_true(pf_stacks_end(&stacks, &tree));
    assert_int_equal(tree.count, STACKS + 1);
    pf_tree_close(&tree);
}

/* One that is too long for its thread's path, beside those of other threads. */
static void long_stacks_share_a_path(void **state)
{
    enum { LONG = 3000 };
    (void)state;
    struct pf_tree tree;
    struct pf_stacks stacks = {0};
    static uint32_t frames[LONG];
    const uint32_t bottom = 1;
    assert_int_equal(pf_tree_open(&tree, pf_allocator_or_default(NULL)), 0);
    for (uint32_t i = 0; i < 8; i++) {
        struct pf_stack_frames stack = stack_of(&bottom, frames, i % 4 == 3 ? 5 : LONG, 1);
        frames[0] = i / 4;
        stack.owner = i;
        assert_true(pf_stacks_add(&stacks, &tree, &stack));
    }
    assert_true(pf_stacks_end(&stacks, &tree));
    assert_int_equal(tree.count, 1 + 1 + LONG + 2); /* leaves are one of two */
    pf_tree_close(&tree);
}

/* What was in the tree before it was full is found on; of all else the bottom and the leaf stay. */
static void a_full_tree_keeps_bottoms_and_leaves(void **state)
{
    (void)state;
    struct counting c;
    struct pf_tree tree;
    struct pf_stacks stacks = {.limit = 5};
    const uint32_t bottom = 7, known[] = {3, 2, 1}, new[] = {5, 4, 2, 1}, *all[] = {known, new, known, new, new};
    uint32_t entered[5];
    counting_open(&c, -1);
    assert_int_equal(pf_tree_open(&tree, &c.allocator), 0);
    for (size_t i = 0; i < 5; i++) {
        struct pf_stack_frames stack = stack_of(&bottom, all[i], all[i] == known ? 3 : 4, 10);
        stack.alone = all[i][0];
        assert_true(pf_stacks_add(&stacks, &tree, &stack));
        if (i)
            entered[i - 1] = stacks.entered;
    }
    assert_true(pf_stacks_end(&stacks, &tree));
    entered[4] = stacks.entered;
    assert_int_equal(stacks.cut, 3);
    assert_int_equal(tree.count, 6); /* root, 7, 1, 2, 3; 5 */
    assert_int_equal(tree.nodes[entered[1]].frame, 5);
    assert_int_equal(tree.nodes[entered[1]].parent, 1);
    assert_int_equal(tree.nodes[entered[1]].samples, 3);
    assert_int_equal(entered[3], entered[4]);
    assert_int_equal(tree.nodes[entered[0]].frame, 3);
    assert_int_equal(tree.nodes[entered[0]].samples, 2);
    assert_int_equal(entered[0], entered[2]);
    pf_tree_close(&tree);
    counting_close(&c);
}

static bool add_leaf(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_leaf *leaf, size_t *again)
{
    const bool known = pf_stacks_add_again(stacks, tree, leaf->bottom, leaf->frame, leaf->weight);
    *again += known;
    return known || pf_stacks_add_leaf(stacks, tree, leaf);
}

/*
 * The tree of leaves among other stacks is that of the same stacks without leaves, with all their notes. The leaves of
 * the first bottom have the same frame.
 */
static void leaves_make_the_same_tree(void **state)
{
    enum { STACKS = 20000, OWN = 0x3000000 };
    (void)state;
    for (size_t limit = 0; limit <= 3000; limit += 3000) {
        struct pf_tree tree, expected;
        struct pf_stacks stacks = {.limit = limit}, usual = {.limit = limit};
        size_t again = 0;
        assert_int_equal(pf_tree_open(&tree, pf_allocator_or_default(NULL)), 0);
        assert_int_equal(pf_tree_open(&expected, pf_allocator_or_default(NULL)), 0);
        for (uint32_t i = 0; i < STACKS; i++) {
            const uint32_t bottom = i % 5 * 40, frames[] = {bottom ? i * 7919 % 5000 : 1, i % 16};
            struct pf_stack_frames stack = stack_of(&bottom, frames, i % 7 == 3 ? 2 : 1, i);
            const struct pf_stack_leaf leaf = {.bottom = bottom,
                                               .frame = frames[0],
                                               .alone = frames[0] + 10000,
                                               .note = i % 3 << 24 | i,
                                               .own = OWN,
                                               .weight = i};
            stack.alone = leaf.alone;
            stack.note = leaf.note;
            stack.own = OWN;
            assert_true(pf_stacks_add(&usual, &expected, &stack));
            assert_true(stack.frame_count == 1 ? add_leaf(&stacks, &tree, &leaf, &again)
                                               : pf_stacks_add(&stacks, &tree, &stack));
        }
        assert_true(pf_stacks_end(&stacks, &tree) && pf_stacks_end(&usual, &expected));
        assert_int_equal(tree.count, expected.count);
        assert_int_equal(stacks.cut, usual.cut);
        assert_in_range(again, STACKS / 8, STACKS / 4);
        assert_memory_equal(tree.nodes, expected.nodes, tree.count * sizeof(*tree.nodes));
        pf_tree_close(&tree);
        pf_tree_close(&expected);
    }
}

static void memory_may_be_short(void **state)
{
    (void)state;
    bool enough = false;
    for (int left = 0; !enough; left++) {
        struct counting c;
        struct pf_tree tree;
        struct pf_stacks stacks = {0};
        uint32_t frames[40];
        counting_open(&c, left);
        if (pf_tree_open(&tree, &c.allocator) == 0) {
            enough = true;
            for (uint32_t i = 0; i < 3000 && enough; i++) {
                const uint32_t bottom = i % 3;
                struct pf_stack_frames stack = stack_of(&bottom, frames, made_stack(i, frames), i);
                stack.owner = i % 4;
                const struct pf_stack_leaf leaf = {.bottom = bottom, .frame = i, .weight = i};
                enough = pf_stacks_add(&stacks, &tree, &stack) && pf_stacks_add_leaf(&stacks, &tree, &leaf);
            }
            enough = pf_stacks_end(&stacks, &tree) && enough;
            pf_tree_close(&tree);
        }
        counting_close(&c);
        assert_true(left < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_in_the_tree_when_the_next_one_comes),
        cmocka_unit_test(many_stacks_make_the_same_tree),
        cmocka_unit_test(a_large_table_finds_all_nodes),
        cmocka_unit_test(long_stacks_share_a_path),
        cmocka_unit_test(a_full_tree_keeps_bottoms_and_leaves),
        cmocka_unit_test(leaves_make_the_same_tree),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
