/* SPDX-License-Identifier: MIT */
#include "analysis/tree.h"

#include "counting.h"

static uint32_t add_path(struct pf_tree *tree, const uint32_t *frames, size_t count, uint64_t weight)
{
    uint32_t node = 0;
    for (size_t i = 0; i < count; i++) {
        node = pf_tree_child(tree, node, frames[i]);
        assert_true(node != 0);
    }
    pf_tree_add(tree, node, weight);
    return node;
}

static void equal_stacks_are_one_node(void **state)
{
    (void)state;
    struct counting c;
    struct pf_tree tree;
    const uint32_t abc[] = {1, 2, 3}, abd[] = {1, 2, 4};
    counting_open(&c, -1);
    assert_int_equal(pf_tree_open(&tree, &c.allocator), 0);
    const uint32_t first = add_path(&tree, abc, 3, 10), other = add_path(&tree, abd, 3, 5);
    assert_int_equal(add_path(&tree, abc, 3, 1), first);
    assert_int_not_equal(first, other);
    assert_int_equal(tree.count, 5); /* root, 1, 2, 3, 4 */
    assert_int_equal(tree.nodes[first].self, 11);
    assert_int_equal(tree.nodes[first].samples, 2);
    pf_tree_close(&tree);
    counting_close(&c);
}

static void sums_go_up(void **state)
{
    (void)state;
    struct pf_tree tree;
    const uint32_t deep[] = {1, 2, 3}, shallow[] = {1}, other[] = {7, 2};
    assert_int_equal(pf_tree_open(&tree, pf_allocator_or_default(NULL)), 0);
    const uint32_t leaf = add_path(&tree, deep, 3, 10), top = add_path(&tree, shallow, 1, 5);
    add_path(&tree, other, 2, 100);
    assert_true(pf_tree_sum(&tree));
    assert_int_equal(tree.totals[0], 115);
    assert_int_equal(tree.totals[top], 15);
    assert_int_equal(tree.nodes[top].self, 5);
    assert_int_equal(tree.totals[leaf], 10);
    assert_true(pf_tree_sum(&tree)); /* again gives the same */
    assert_int_equal(tree.totals[0], 115);
    pf_tree_close(&tree);
}

/* The table grows several times; every node is found again, and comes after its parent. */
static void many_nodes(void **state)
{
    enum { PARENTS = 300, CHILDREN = 50 };
    (void)state;
    struct pf_tree tree;
    assert_int_equal(pf_tree_open(&tree, pf_allocator_or_default(NULL)), 0);
    for (int again = 0; again < 2; again++)
        for (uint32_t parent = 0; parent < PARENTS; parent++)
            for (uint32_t child = 0; child < CHILDREN; child++) {
                const uint32_t path[] = {parent, child};
                add_path(&tree, path, 2, 1);
            }
    assert_int_equal(tree.count, 1 + PARENTS + PARENTS * CHILDREN);
    for (uint32_t node = 1; node < tree.count; node++) {
        assert_true(tree.nodes[node].parent < node);
        assert_int_equal(tree.nodes[node].samples, tree.nodes[node].parent ? 2 : 0);
    }
    pf_tree_close(&tree);
}

static void memory_may_be_short(void **state)
{
    (void)state;
    for (int left = 0;; left++) {
        struct counting c;
        struct pf_tree tree;
        uint32_t node = 1;
        counting_open(&c, left);
        if (pf_tree_open(&tree, &c.allocator) == 0) {
            for (uint32_t frame = 0; frame < 3000 && node; frame++)
                node = pf_tree_child(&tree, 0, frame);
            pf_tree_close(&tree);
        } else {
            node = 0;
        }
        counting_close(&c);
        if (node)
            break;
        assert_true(left < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_one_node),
        cmocka_unit_test(sums_go_up),
        cmocka_unit_test(many_nodes),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
