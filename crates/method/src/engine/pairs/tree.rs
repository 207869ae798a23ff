//! Sums of a block's gradient in the order of a binary tree, so that parts of it can be
//! added up elsewhere without another result.
//!
//! The leaves are the rounds in which groups of blocks meet. A leaf adds up the tiles of
//! one round from zero; a node is the sum of its two halves. Whoever has all leaves of a
//! node knows its bits, whatever else it has.

use std::sync::Mutex;

use linkproof_numeric::real::{Real, add_scaled};

/// The sum of the leaves `index * 2^level` up to, not including, `(index + 1) * 2^level`.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<T> {
    /// Its height.
    pub level: u32,
    /// Its place among those of the same height.
    pub index: usize,
    /// The sum.
    pub numbers: Vec<T>,
}

/// Buffers that nobody uses at the moment.
#[derive(Debug)]
pub struct Spare<B>(Mutex<Vec<B>>);

impl<B> Default for Spare<B> {
    fn default() -> Spare<B> {
        Spare(Mutex::new(Vec::new()))
    }
}

impl<B> Spare<B> {
    /// One of them, or a new one.
    pub fn take(&self, make: impl FnOnce() -> B) -> B {
        let spare = self.0.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(make)
    }

    /// Nobody uses this one any longer.
    pub fn give(&self, buffer: B) {
        if let Ok(mut spare) = self.0.lock() {
            spare.push(buffer);
        }
    }
}

/// Leaves on their way to nodes, in their order.
#[derive(Debug)]
pub struct Tree<'s, T> {
    open: Option<Node<T>>,
    done: Vec<Node<T>>,
    spare: &'s Spare<Vec<T>>,
    len: usize,
}

impl<'s, T: Real> Tree<'s, T> {
    /// Sums of so many numbers each, in buffers from a stock.
    pub fn new(len: usize, spare: &'s Spare<Vec<T>>) -> Tree<'s, T> {
        Tree {
            open: None,
            done: Vec::new(),
            spare,
            len,
        }
    }

    /// The numbers of a leaf, which is not before the last one that was asked for; zero
    /// at first.
    pub fn leaf(&mut self, index: usize) -> &mut [T] {
        if self.open.as_ref().is_none_or(|open| open.index != index) {
            self.close();
        }
        let (spare, len) = (self.spare, self.len);
        let open = self.open.get_or_insert_with(|| {
            let mut numbers = spare.take(Vec::new);
            numbers.clear();
            numbers.resize(len, T::ZERO);
            let level = 0;
            Node {
                level,
                index,
                numbers,
            }
        });
        &mut open.numbers
    }

    /// Ends a leaf, and every node that it completes.
    fn close(&mut self) {
        let Some(mut node) = self.open.take() else {
            return;
        };
        while let Some(left) = self.done.pop_if(|left| {
            node.index % 2 == 1 && left.level == node.level && left.index + 1 == node.index
        }) {
            let (both, numbers) = joined(left, node);
            node = both;
            self.spare.give(numbers);
        }
        self.done.push(node);
    }

    /// The nodes that are complete.
    pub fn finish(mut self) -> Vec<Node<T>> {
        self.close();
        self.done
    }
}

/// The node above two that stand side by side, and the memory of the right one.
fn joined<T: Real>(mut left: Node<T>, right: Node<T>) -> (Node<T>, Vec<T>) {
    add_scaled(&mut left.numbers, T::ONE, &right.numbers);
    left.level += 1;
    left.index /= 2;
    (left, right.numbers)
}

/// The root over `2^depth` leaves, from nodes that have each leaf at most once. A leaf
/// that nobody has adds nothing. None where there are none, or some overlap.
pub fn root<T: Real>(
    mut nodes: Vec<Node<T>>,
    depth: u32,
    spare: &Spare<Vec<T>>,
) -> Option<Node<T>> {
    nodes.sort_by_key(|node| node.index << node.level.min(depth));
    for level in 0..depth {
        let mut above: Vec<Node<T>> = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            if node.level == level {
                let is_right = node.index % 2 == 1;
                let sibling = above.pop_if(|left| {
                    is_right && left.level == level + 1 && left.index == node.index / 2
                });
                node = match sibling {
                    Some(mut left) => {
                        add_scaled(&mut left.numbers, T::ONE, &node.numbers);
                        spare.give(node.numbers);
                        left
                    }
                    None => Node {
                        level: level + 1,
                        index: node.index / 2,
                        ..node
                    },
                };
            }
            above.push(node);
        }
        nodes = above;
    }
    let is_whole = nodes.len() == 1 && nodes[0].level == depth;
    nodes.pop().filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers whose sum depends on its order.
    fn number(leaf: usize) -> f32 {
        1.0 / (leaf as f32 + 0.7) * if leaf.is_multiple_of(3) { 1e4 } else { -1.0 }
    }

    fn nodes(leaves: impl Iterator<Item = usize>) -> Vec<Node<f32>> {
        let spare = Spare::default();
        let mut tree = Tree::new(1, &spare);
        for leaf in leaves {
            tree.leaf(leaf)[0] += number(leaf);
            tree.leaf(leaf)[0] += 1.0;
        }
        tree.finish()
    }

    #[test]
    fn any_parts_add_up_to_the_same_bits() {
        let (depth, spare) = (5, Spare::default());
        for missing in [None, Some(0..1), Some(7..12), Some(16..32)] {
            let missing = missing.unwrap_or(0..0);
            let has = |leaf: &usize| !missing.contains(leaf);
            let whole = nodes((0..32).filter(has));
            let whole = root(whole, depth, &spare).unwrap().numbers;
            for parts in 1..9 {
                for cut in [1, 3, 7] {
                    let of = |leaf: usize| (leaf / cut) % parts;
                    let all = (0..parts)
                        .flat_map(|part| nodes((0..32).filter(has).filter(|&l| of(l) == part)));
                    let found = root(all.collect(), depth, &spare).unwrap();
                    assert_eq!(found.numbers, whole, "{parts} parts, {cut} a time");
                }
            }
        }
        assert_eq!(nodes(0..32).len(), 1);
        assert_eq!(nodes(1..31).len(), 8);
    }

    #[test]
    fn what_is_no_whole_is_none() {
        let spare = Spare::default();
        assert!(root(nodes(0..0), 3, &spare).is_none());
        let twice = nodes(0..8).into_iter().chain(nodes(3..4));
        assert!(root(twice.collect(), 3, &spare).is_none());
        let beyond = nodes(0..9);
        assert!(root(beyond, 3, &spare).is_none());
        // One leaf is its own root.
        assert_eq!(
            root(nodes(0..1), 0, &spare).unwrap().numbers,
            [number(0) + 1.0]
        );
    }
}
